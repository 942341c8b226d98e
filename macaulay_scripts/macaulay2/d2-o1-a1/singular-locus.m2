-- Singular points of the neuromanifold M(2,1,1)
--
-- Layer:      d = 2, d' = 1, a = 1, t >= 2
-- Reference:  Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Theorem 3.4 and Corollary A.4
-- Written by: agattn emit singular-locus --engine macaulay2 -d 2 -o 1 -a 1

kk = QQ

-- The weights, and the attention matrix A = K^T Q of rank at most 1
R = kk[k_(1,1)..k_(1,2), q_(1,1)..q_(1,2), v_(1,1)..v_(1,2)]
K = matrix table(1, 2, (i,j) -> k_(i+1,j+1))
Q = matrix table(1, 2, (i,j) -> q_(i+1,j+1))
A = transpose K * Q
V = matrix table(1, 2, (c,i) -> v_(c+1,i+1))

-- The coefficient of x_(i,s) x_(k,s) x_(b,t), s != t, in the entry (c,t) of V X X^T A X
multiindices = toList select((1,1,1,1)..(1,2,2,2), (c,b,i,k) -> i <= k)
phi = (A,V) -> matrix {apply(multiindices, (c,b,i,k) ->
    V_(c-1,i-1) * A_(k-1,b-1) + if i == k then 0 else V_(c-1,k-1) * A_(i-1,b-1))}

-- The y have the degree of their images, so that the kernel is homogeneous
-- and Macaulay2 can use its Hilbert function
graded = kk[apply(multiindices, j -> y_j), Degrees => toList(#multiindices : 3)]
I = kernel map(R, graded, phi(A,V))

-- Back to the standard grading
S = kk[gens graded]
I = trim sub(I, S)

-- One representative (label, A, V) of each stratum, labelled by (rk V, rk A, rk [V; A^T])
points = {
    ("0,0,0", matrix{{0,0},{0,0}}, matrix{{0,0}}),
    ("1,1,1", matrix{{1,0},{0,0}}, matrix{{1,0}}),
    ("1,1,2", matrix{{1,0},{0,0}}, matrix{{0,1}})
}
points = apply(points, (label,A,V) -> (label, sub(A,kk), sub(V,kk)))

-- The results between two marks, one item a line; polynomials as exponent vectors.
-- The checksum is the polynomial in 1000003 with the letters' codes, modulo a prime
said = 0
checksum = 0
say = line -> (
    said = said + 1;
    scan(ascii(line | "\n"), c -> checksum = (1000003*checksum + c) % 2305843009213693951);
    << line << endl)
sayInteger = (name, n) -> say concatenate("integer ", name, " ", toString n)
<< "agattn-data 1 singular-locus 190f856f33bfdef0" << endl
sayInteger("dimension", dim I)

-- The tangent space at a point has dimension 6 - (rank of the Jacobian there)
scan(points, (label,A,V) -> sayInteger("jacobian-rank@" | label, rank sub(jacobian I, phi(A,V))))

-- Where the rank is below the codimension
J = radical(I + minors(codim I, jacobian I))
sayInteger("locus-dimension", dim J)
sayInteger("locus-degree", degree J)
<< "agattn-end " << said << " " << checksum << endl
