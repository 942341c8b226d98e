-- M(3,2,2) is singular at points that Theorem 3.4 of the paper (version 2) does not name:
-- there rk A = 1 < a and rk V = 2. Everything is exact, and small enough to check by hand.
needsPackage "LightningAttention"

(d,e,a) = (3,2,2)
(A,V) = representative(d, e, (2,1,3))
print(A, V)
print(rank A, rank V, rank(V || transpose A))

-- The dimension of M(3,2,2), as Corollary 3.3 gives it and as the rank of the differential at one point
print neuroDimension(d,e,a)
print rank tangentVectors(a, matrix{{1_QQ,0,0},{0,1,0},{0,0,0}}, matrix{{1_QQ,2,0},{0,1,3}})

-- A has rank 1 < 2, so that A + s A' has rank at most 2 for all A' of rank 1: all
-- phi(A',V) + phi(A,V') are tangent vectors of M(3,2,2) at phi(A,V), and 14 of them are independent
units = (m,n) -> flatten table(m, n, (i,j) -> map(QQ^m, QQ^n, {(i,j) => 1}))
tangents = apply(units(d,d), A' -> coefficientVector(A',V)) | apply(units(e,d), V' -> coefficientVector(A,V'))
print rank fold((v,w) -> v || w, tangents)

-- The same at every stratum: ranks, tangent vectors, and whether the points are singular
for s in strata(d,e,a) do
    print(s, rank tangentVectors(a, representative(d,e,s)), isSingularStratum(d,e,a,s))
