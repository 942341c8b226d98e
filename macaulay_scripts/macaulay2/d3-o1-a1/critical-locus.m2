-- Critical points of (A, V) -> phi for the neuromanifold M(3,1,1)
--
-- Layer:      d = 3, d' = 1, a = 1, t >= 2
-- Reference:  Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Lemma A.3
-- Written by: agattn emit critical-locus --engine macaulay2 -d 3 -o 1 -a 1

kk = QQ

-- The coefficient of x_(i,s) x_(k,s) x_(b,t), s != t, in the entry (c,t) of V X X^T A X
multiindices = toList select((1,1,1,1)..(1,3,3,3), (c,b,i,k) -> i <= k)
phi = (A,V) -> matrix {apply(multiindices, (c,b,i,k) ->
    V_(c-1,i-1) * A_(k-1,b-1) + if i == k then 0 else V_(c-1,k-1) * A_(i-1,b-1))}

-- One representative (label, A, V) of each stratum, labelled by (rk V, rk A, rk [V; A^T])
points = {
    ("0,0,0", matrix{{0,0,0},{0,0,0},{0,0,0}}, matrix{{0,0,0}}),
    ("1,0,1", matrix{{0,0,0},{0,0,0},{0,0,0}}, matrix{{1,0,0}}),
    ("0,1,1", matrix{{1,0,0},{0,0,0},{0,0,0}}, matrix{{0,0,0}}),
    ("1,1,1", matrix{{1,0,0},{0,0,0},{0,0,0}}, matrix{{1,0,0}}),
    ("1,1,2", matrix{{1,0,0},{0,0,0},{0,0,0}}, matrix{{0,1,0}})
}
points = apply(points, (label,A,V) -> (label, sub(A,kk), sub(V,kk)))
-- Over phi = 0 there are several orbits of pairs (A,V): those with A = 0 or V = 0

-- A tangent direction (A', V') is in the kernel of the differential if phi(A', V) + phi(A, V') = 0.
-- It is in the tangent cone of the matrices of rank at most 1 at A, of rank r,
-- if A' has rank at most 1 - r as a map from ker A to coker A.
T = kk[a_(1,1)..a_(3,3), v_(1,1)..v_(1,3)]
A' = matrix table(3, 3, (i,b) -> a_(i+1,b+1))
V' = matrix table(1, 3, (c,i) -> v_(c+1,i+1))
onKernel = A -> transpose gens ker transpose A * A' * gens ker A

-- The results between two marks, one item a line; polynomials as exponent vectors.
-- The checksum is the polynomial in 1000003 with the letters' codes, modulo a prime
said = 0
checksum = 0
say = line -> (
    said = said + 1;
    scan(ascii(line | "\n"), c -> checksum = (1000003*checksum + c) % 2305843009213693951);
    << line << endl)
sayInteger = (name, n) -> say concatenate("integer ", name, " ", toString n)
<< "agattn-data 1 critical-locus 975cbfd2326936fd" << endl
scan(points, (label,A,V) -> (
    kernelIdeal := ideal(phi(A',V) + phi(A,V'));
    sayInteger("kernel-dimension@" | label, dim kernelIdeal);
    cone := kernelIdeal + minors(1 - rank A + 1, onKernel A);
    sayInteger("cone-dimension@" | label, dim cone)))
<< "agattn-end " << said << " " << checksum << endl
