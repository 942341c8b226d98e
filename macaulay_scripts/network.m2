-- A network of two layers of widths 2, 1, 1 with one token computes cubes of binary cubics
needsPackage "LightningAttention"

kk = ZZ/32003
(dims,ranks) = ({2,1,1},{1,1})
F = deepParametrization(dims, ranks, Tokens => 1, CoefficientRing => kk)
print apply(toList(1..4), n -> numcols imageEquations(F,n))

-- The quartics cut out a variety with the dimension and degree of the third Veronese threefold
I = deepIdeal(dims, ranks, 4, Tokens => 1, CoefficientRing => kk)
print(dim I, degree I)

-- With two tokens the coefficients satisfy linear relations as well
F = deepParametrization(dims, ranks, Tokens => 2, CoefficientRing => kk)
print(numgens source F, numcols imageEquations(F,1))
