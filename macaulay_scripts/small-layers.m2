-- The ideals that elimination finds in seconds: dimension, degree, minimal generators by degree
needsPackage "LightningAttention"

kk = ZZ/32003
for layer in {(2,1,1), (2,1,2), (2,2,1), (2,2,2), (2,3,1), (3,1,1)} do (
    I = neuroIdeal(layer, CoefficientRing => kk);
    assert(dim I == neuroDimension layer and degree I == neuroDegree layer);
    print(layer, dim I, degree I, sort pairs tally apply(I_*, f -> first degree f)))

-- A minimal free resolution of M(2,2,2)
print betti res neuroIdeal(2,2,2,CoefficientRing => kk)
