-- M(3,2,2) is singular at points that Theorem 3.4 of the paper (version 2) does not name:
-- there rk A = 1 < a and rk V = 2. Everything is exact, and small enough to check by hand.
needsPackage "LightningAttention"

(d,e,a) = (3,2,2)
(A,V) = representative(d, e, (2,1,3))
<< "At A = " << toString entries A << ", V = " << toString entries V << " the ranks are rk A = " << rank A
<< ", rk V = " << rank V << ", rk [V; A^T] = " << rank(V || transpose A) << "." << endl

-- The dimension of M(3,2,2), as Corollary 3.3 gives it and as the rank of the differential at one point
differential = tangentVectors(a, matrix{{1_QQ,0,0},{0,1,0},{0,0,0}}, matrix{{1_QQ,2,0},{0,1,3}})
<< "dim M(3,2,2) = " << neuroDimension(d,e,a) << " by Corollary 3.3; the differential at another point has rank "
<< rank differential << "." << endl

-- A has rank 1 < 2, so that A + s A' has rank at most 2 for all A' of rank 1: all
-- phi(A',V) + phi(A,V') are tangent vectors of M(3,2,2) at phi(A,V), and 14 of them are independent
units = (m,n) -> flatten table(m, n, (i,j) -> map(QQ^m, QQ^n, {(i,j) => 1}))
tangents = apply(units(d,d), A' -> coefficientVector(A',V)) | apply(units(e,d), V' -> coefficientVector(A,V'))
independent = rank fold((v,w) -> v || w, tangents)
<< "At phi(A,V) there are " << independent << " independent tangent vectors"
<< (if independent > neuroDimension(d,e,a) then ": M is singular there, though rk V = " | toString rank V else "") << "." << endl

-- The same at every stratum: ranks, tangent vectors, and whether the points are singular
<< "All orbits, by (rk V, rk A, rk [V; A^T]):" << endl
for s in strata(d,e,a) do (
    << "  " << s << ": tangent space of dimension " << rank tangentVectors(a, representative(d,e,s))
       << (if isSingularStratum(d,e,a,s) then ", singular" else ", smooth") << endl)
