-- Fibers of (A, V) -> phi up to scaling, for the neuromanifold M(2,1,1)
--
-- Layer:      d = 2, d' = 1, a = 1, t >= 2
-- Reference:  Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Theorem 3.2 and Corollary A.2
-- Written by: agattn emit fiber --engine macaulay2 -d 2 -o 1 -a 1

kk = QQ

-- The weights, and the attention matrix A
R = kk[a_(1,1)..a_(2,2), v_(1,1)..v_(1,2)]
A = matrix table(2, 2, (i,b) -> a_(i+1,b+1))
V = matrix table(1, 2, (c,i) -> v_(c+1,i+1))

-- The coefficient of x_(i,s) x_(k,s) x_(b,t), s != t, in the entry (c,t) of V X X^T A X
multiindices = toList select((1,1,1,1)..(1,2,2,2), (c,b,i,k) -> i <= k)
phi = (A,V) -> matrix {apply(multiindices, (c,b,i,k) ->
    V_(c-1,i-1) * A_(k-1,b-1) + if i == k then 0 else V_(c-1,k-1) * A_(i-1,b-1))}

-- One representative (label, A, V) of each stratum, labelled by (rk V, rk A, rk [V; A^T])
points = {
    ("1,1,1", matrix{{1,0},{0,0}}, matrix{{1,0}}),
    ("1,1,2", matrix{{1,0},{0,0}}, matrix{{0,1}})
}
points = apply(points, (label,A,V) -> (label, sub(A,kk), sub(V,kk)))

-- The fiber consists of curves {(sA, V/s)}. The hyperplane l = l(point) meets each of them once,
-- unless a preimage lies on l = 0; "escapes" says whether one does.
l = sum flatten table(2, 2, (i,b) -> (2*i + b + 1) * a_(i+1,b+1))

-- The results between two marks, one item a line; polynomials as exponent vectors.
-- The checksum is the polynomial in 1000003 with the letters' codes, modulo a prime
said = 0
checksum = 0
say = line -> (
    said = said + 1;
    scan(ascii(line | "\n"), c -> checksum = (1000003*checksum + c) % 2305843009213693951);
    << line << endl)
sayInteger = (name, n) -> say concatenate("integer ", name, " ", toString n)
<< "agattn-data 1 fiber b86cf08f78310511" << endl
scan(points, (label,A0,V0) -> (
    fiber := ideal(phi(A,V) - phi(A0,V0)) + minors(2, A);
    l0 := sub(l, flatten A0 | flatten V0);
    sayInteger("escapes@" | label, if fiber + ideal l == 1 then 0 else 1);
    G := fiber + ideal(l - l0);
    sayInteger("length@" | label, degree G);
    sayInteger("points@" | label, degree radical G)))
<< "agattn-end " << said << " " << checksum << endl
