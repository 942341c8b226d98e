-- Equations of the neuromanifold M(2,1,2), by elimination
--
-- Layer:      d = 2, d' = 1, a = 2, t >= 2
-- Reference:  Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Section 3.2 and Proposition A.5
-- Written by: agattn emit implicit-ideal --engine macaulay2 -d 2 -o 1 -a 2

kk = QQ

-- The weights, and the attention matrix A
R = kk[a_(1,1)..a_(2,2), v_(1,1)..v_(1,2)]
A = matrix table(2, 2, (i,b) -> a_(i+1,b+1))
V = matrix table(1, 2, (c,i) -> v_(c+1,i+1))

-- The coefficient of x_(i,s) x_(k,s) x_(b,t), s != t, in the entry (c,t) of V X X^T A X
multiindices = toList select((1,1,1,1)..(1,2,2,2), (c,b,i,k) -> i <= k)
phi = (A,V) -> matrix {apply(multiindices, (c,b,i,k) ->
    V_(c-1,i-1) * A_(k-1,b-1) + if i == k then 0 else V_(c-1,k-1) * A_(i-1,b-1))}

-- The y have the degree of their images, so that the kernel is homogeneous
-- and Macaulay2 can use its Hilbert function
graded = kk[apply(multiindices, j -> y_j), Degrees => toList(#multiindices : 2)]
I = kernel map(R, graded, phi(A,V))

-- Back to the standard grading
S = kk[gens graded]
I = trim sub(I, S)

-- The results between two marks, one item a line; polynomials as exponent vectors.
-- The checksum is the polynomial in 1000003 with the letters' codes, modulo a prime
said = 0
checksum = 0
say = line -> (
    said = said + 1;
    scan(ascii(line | "\n"), c -> checksum = (1000003*checksum + c) % 2305843009213693951);
    << line << endl)
sayPolynomials = (name, fs) -> (
    say concatenate("polynomials ", name, " ", toString(#fs));
    scan(fs, f -> (
        say concatenate("polynomial ", toString(#listForm f));
        scan(listForm f, (e,c) -> say concatenate("term ", toString c, " ", demark(",", apply(e, toString)))))))
sayInteger = (name, n) -> say concatenate("integer ", name, " ", toString n)
<< "agattn-data 1 implicit-ideal d94eb5132e63574e" << endl
sayInteger("dimension", dim I)
sayInteger("degree", degree I)
sayPolynomials("generators", flatten entries mingens I)
<< "agattn-end " << said << " " << checksum << endl
