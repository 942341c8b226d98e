-- Tangent spaces of the neuromanifold M(2,2,1), from below and from above
--
-- Layer:      d = 2, d' = 2, a = 1, t >= 2
-- Reference:  Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Theorem 3.4 and Corollary A.4
-- Written by: agattn emit strata-tangents --engine macaulay2 -d 2 -o 2 -a 1

kk = QQ

-- The weights, and the attention matrix A
R = kk[a_(1,1)..a_(2,2), v_(1,1)..v_(2,2)]
A = matrix table(2, 2, (i,b) -> a_(i+1,b+1))
V = matrix table(2, 2, (c,i) -> v_(c+1,i+1))

-- The coefficient of x_(i,s) x_(k,s) x_(b,t), s != t, in the entry (c,t) of V X X^T A X
multiindices = toList select((1,1,1,1)..(2,2,2,2), (c,b,i,k) -> i <= k)
phi = (A,V) -> matrix {apply(multiindices, (c,b,i,k) ->
    V_(c-1,i-1) * A_(k-1,b-1) + if i == k then 0 else V_(c-1,k-1) * A_(i-1,b-1))}

-- Each point with its label and all its preimages (A,V), up to (sA, V/s)
points = {
    ("0,0,0", {(matrix{{0,0},{0,0}}, matrix{{0,0},{0,0}})}),
    ("1,1,1", {(matrix{{1,0},{0,0}}, matrix{{1,0},{0,0}})}),
    ("1,1,2", {(matrix{{1,0},{0,0}}, matrix{{0,1},{0,0}}), (matrix{{0,0},{1,0}}, matrix{{1,0},{0,0}})}),
    ("2,1,2", {(matrix{{1,0},{0,0}}, matrix{{1,0},{0,1}})})
}
points = apply(points, (label,pairs) -> (label, apply(pairs, (A,V) -> (sub(A,kk), sub(V,kk)))))

-- From below: velocities of curves in the variety. Through a preimage (A,V) run
-- (A + s A', V + s V'), with A' in the tangent cone of the matrices of rank at most 1
units = (m,n) -> flatten table(m, n, (x,y) -> matrix table(m, n, (i,j) -> if (i,j) == (x,y) then 1_kk else 0_kk))
asRows = rows -> matrix apply(rows, row -> {row})
directions = A -> (
    if rank A < 1 then units(2,2)
    else apply(units(2,2), E -> A*E) | apply(units(2,2), E -> E*A))
velocities = (A,V) -> asRows(apply(directions A, A' -> phi(A',V)) | apply(units(2,2), V' -> phi(A,V')))

-- Through the critical point A = l0 q0^T, V = h0 l0^T also bent curves, where the first velocity vanishes:
-- there the coefficients of s^2 and s^3 are tangent vectors
l0 = sub(matrix{{1},{0}}, kk)
q0 = sub(matrix{{1},{0}}, kk)
h0 = sub(matrix{{1},{0}}, kk)
L = kk[s]
vectors = n -> units(n,1)
bent = flatten for w in vectors 2 list (
    for p in vectors 2 list ((l0 + s*w) * transpose(q0 + s^2*p), h0 * transpose(l0 - s*w)))
bent = bent | flatten for w in vectors 2 list (
    flatten for g in vectors 2 list for n in vectors 2 list
        ((l0 + s*w) * transpose q0, h0 * transpose(l0 - s*w) + s^2 * g * transpose n))
bentVelocities = asRows apply(bent, (A,V) -> sub(last coefficients(phi(A,V), Monomials => {s^2,s^3}), kk))

-- The variety is a cone, so each of its points is a tangent vector at 0
atZero = asRows flatten table(units(2,2), units(2,2), (A,V) -> phi(A,V))

-- From above: equations of the variety, found in the weight spaces of a torus; each is checked
-- to vanish on the parametrization with A = K^T Q
S = kk[apply(multiindices, j -> y_j)]
equations = {
    y_(1,1,1,2)*y_(1,2,1,1) - y_(1,1,1,1)*y_(1,2,1,2),
    y_(1,1,2,2)*y_(1,2,1,1) - y_(1,1,1,1)*y_(1,2,2,2),
    y_(1,2,1,1)*y_(2,1,1,1) - y_(1,1,1,1)*y_(2,2,1,1),
    y_(1,2,1,1)*y_(2,1,1,2) - y_(1,1,1,1)*y_(2,2,1,2),
    y_(1,2,1,1)*y_(2,1,2,2) - y_(1,1,1,1)*y_(2,2,2,2),
    y_(1,1,2,2)*y_(1,2,1,2) - y_(1,1,1,2)*y_(1,2,2,2),
    y_(1,2,1,2)*y_(2,1,1,1) - y_(1,1,1,2)*y_(2,2,1,1),
    y_(1,2,1,2)*y_(2,1,1,2) - y_(1,1,1,2)*y_(2,2,1,2),
    y_(1,2,1,2)*y_(2,1,2,2) - y_(1,1,1,2)*y_(2,2,2,2)
}
W = kk[k_(1,1)..k_(1,2), q_(1,1)..q_(1,2), v_(1,1)..v_(2,2)]
K = matrix table(1, 2, (i,j) -> k_(i+1,j+1))
Q = matrix table(1, 2, (i,j) -> q_(i+1,j+1))
V = matrix table(2, 2, (c,i) -> v_(c+1,i+1))
toWeights = map(W, S, phi(transpose K * Q, V))
failures = number(equations, f -> toWeights f != 0)

-- Preimages of a point have the same phi
failures = failures + sum(points, (label,pairs) -> number(pairs, pair -> phi pair != phi pairs#0))
J = jacobian matrix {equations | {0_S}}

-- The results between two marks, one item a line; polynomials as exponent vectors.
-- The checksum is the polynomial in 1000003 with the letters' codes, modulo a prime
said = 0
checksum = 0
say = line -> (
    said = said + 1;
    scan(ascii(line | "\n"), c -> checksum = (1000003*checksum + c) % 2305843009213693951);
    << line << endl)
sayInteger = (name, n) -> say concatenate("integer ", name, " ", toString n)
<< "agattn-data 1 strata-tangents 8cc803bf9ca06a7e" << endl
sayInteger("equations", #equations)
sayInteger("failures", failures)
scan(points, (label,pairs) -> (
    (A0,V0) := pairs#0;
    sayInteger("differential-rank@" | label, rank velocities(A0,V0));
    curves := fold((x,y) -> x || y, apply(pairs, velocities));
    if label == "1,1,1" then curves = curves || bentVelocities;
    if label == "0,0,0" then curves = atZero;
    sayInteger("curve-rank@" | label, rank curves);
    sayInteger("equation-rank@" | label, rank sub(J, phi(A0,V0)))))
<< "agattn-end " << said << " " << checksum << endl
