-- The weights (A, V) with phi = 0, for the neuromanifold M(2,2,1)
--
-- Layer:      d = 2, d' = 2, a = 1, t >= 2
-- Reference:  Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Theorem 3.2 (ii) and Corollary A.1
-- Written by: agattn emit base-locus --engine macaulay2 -d 2 -o 2 -a 1

kk = QQ

-- The weights, and the attention matrix A
R = kk[a_(1,1)..a_(2,2), v_(1,1)..v_(2,2)]
A = matrix table(2, 2, (i,b) -> a_(i+1,b+1))
V = matrix table(2, 2, (c,i) -> v_(c+1,i+1))

-- The coefficient of x_(i,s) x_(k,s) x_(b,t), s != t, in the entry (c,t) of V X X^T A X
multiindices = toList select((1,1,1,1)..(2,2,2,2), (c,b,i,k) -> i <= k)
phi = (A,V) -> matrix {apply(multiindices, (c,b,i,k) ->
    V_(c-1,i-1) * A_(k-1,b-1) + if i == k then 0 else V_(c-1,k-1) * A_(i-1,b-1))}

B = ideal phi(A,V)
minimalPrimes' = decompose B

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
<< "agattn-data 1 base-locus 5ec728fe08477b14" << endl
sayInteger("components", #minimalPrimes')
scan(#minimalPrimes', i -> sayPolynomials("component@" | toString(i+1), flatten entries mingens minimalPrimes'#i))
<< "agattn-end " << said << " " << checksum << endl
