-- Equations of the neuromanifold M(2,1,2), by elimination
--
-- Layer:      d = 2, d' = 1, a = 2, t >= 2
-- Reference:  Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Section 3.2 and Proposition A.5
-- Written by: agattn emit implicit-ideal --engine macaulay2 -d 2 -o 1 -a 2

kk = QQ

-- The sizes: V is e x d, where e = d', and A is d x d of any rank, as a >= d
(d, e) = (2, 1)

-- The weights, and the attention matrix A. As (sA, V/s) has the same image as (A, V), V may begin with 1:
-- the image of these is dense. With one degree more for each index above 1, phi(A,V) is homogeneous
above = L -> number(L, n -> n > 1)
R = kk[a_(1,1)..a_(d,d), v_(1,1)..v_(e,d), Degrees =>
    flatten table(d, d, (i,b) -> 1 + above {i+1,b+1}) | flatten table(e, d, (c,i) -> max(1, above {c+1,i+1}))]
A = matrix table(d, d, (i,b) -> a_(i+1,b+1))
V = sub(matrix table(e, d, (c,i) -> v_(c+1,i+1)), v_(1,1) => 1)

-- The coefficient of x_(i,s) x_(k,s) x_(b,t), s != t, in the entry (c,t) of V X X^T A X
multiindices = toList select((1,1,1,1)..(e,d,d,d), (c,b,i,k) -> i <= k)
phi = (A,V) -> matrix {apply(multiindices, (c,b,i,k) ->
    V_(c-1,i-1) * A_(k-1,b-1) + if i == k then 0 else V_(c-1,k-1) * A_(i-1,b-1))}

-- The y have the degree of their images, so that the kernel is homogeneous
-- and Macaulay2 can use its Hilbert function
graded = kk[apply(multiindices, j -> y_j), Degrees => apply(multiindices, j -> 1 + above toList j)]
I = kernel map(R, graded, phi(A,V))

-- Back to the standard grading
S = kk[gens graded]
I = trim sub(I, S)

answer = {
    ("dimension", dim I),
    ("degree", degree I),
    ("generators", flatten entries mingens I)}
for p in answer do (
    << p#0 << ": " << (if instance(p#1,List) then #p#1 else p#1) << endl;
    if instance(p#1,List) then scan(p#1, f -> << "    " << toString f << endl))

-- For agattn -------------------------------------------------------------------------------------------

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
scan(answer, (name,x) -> if instance(x,List) then sayPolynomials(name,x) else sayInteger(name,x))
<< "agattn-end " << said << " " << checksum << endl
