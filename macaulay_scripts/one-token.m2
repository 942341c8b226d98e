-- One token: the cubic forms (row of V)(x) * x^T A x. For d = 2 every binary cubic is one; for d = 3 and
-- a >= 2 they are the plane cubics that contain a line, for a = 1 the unions of three lines.
needsPackage "LightningAttention"

kk = ZZ/32003
print(neuroIdeal(2,1,2,Tokens => 1))
for a in {1,2} do (
    F = parametrization(3,1,a,Tokens => 1,CoefficientRing => kk);
    print(a, neuroDimension(3,1,a,Tokens => 1), apply(toList(1..4), n -> numcols imageEquations(F,n))))
