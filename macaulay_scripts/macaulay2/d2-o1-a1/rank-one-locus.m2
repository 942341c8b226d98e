-- Zariski closure of the points with rk A, rk V <= 1 in M(2,1,1): h (x) q (x) Q with rk Q <= 2
--
-- Layer:      d = 2, d' = 1, a = 1, t >= 2
-- Reference:  Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Theorem 3.4 and Figure 1
-- Written by: agattn emit rank-one-locus --engine macaulay2 -d 2 -o 1 -a 1

kk = QQ

multiindices = toList select((1,1,1,1)..(1,2,2,2), (c,b,i,k) -> i <= k)
S = kk[apply(multiindices, j -> y_j)]

-- The two flattenings, and all symmetric slices side by side
byOutput = matrix for c from 1 to 1 list apply(select(multiindices, j -> j#0 == c), j -> y_j)
byColumn = matrix for b from 1 to 2 list apply(select(multiindices, j -> j#1 == b), j -> y_j)
slice = (c,b) -> matrix table(2, 2, (i,k) ->
    if i == k then 2*y_(c,b,i+1,i+1) else y_(c, b, min(i,k)+1, max(i,k)+1))
slices = fold((x,y) -> x | y, flatten for c from 1 to 1 list for b from 1 to 2 list slice(c,b))
Z = trim(minors(2, byOutput) + minors(2, byColumn) + minors(3, slices))

-- They vanish at h_c q_b l(u) m(u), for all vectors h, q and linear forms l, m
P = kk[h_1..h_1, q_1..q_2, l_1..l_2, m_1..m_2]
product' = map(P, S, apply(multiindices, (c,b,i,k) -> h_c * q_b * (l_i * m_k + if i == k then 0 else l_k * m_i)))

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
<< "agattn-data 1 rank-one-locus 50d68a86217b7290" << endl
sayInteger("dimension", dim Z)
sayInteger("degree", degree Z)
sayInteger("failures", number(flatten entries gens Z, f -> product' f != 0))
sayPolynomials("generators", flatten entries mingens Z)
<< "agattn-end " << said << " " << checksum << endl
