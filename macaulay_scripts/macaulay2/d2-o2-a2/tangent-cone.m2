-- Tangent cones of the neuromanifold M(2,2,2)
--
-- Layer:      d = 2, d' = 2, a = 2, t >= 2
-- Reference:  Henry, Marchetti, Kohn: Geometry of Lightning Self-Attention (arXiv 2408.17221v2), Theorem 3.4 and Figure 1
-- Written by: agattn emit tangent-cone --engine macaulay2 -d 2 -o 2 -a 2

kk = QQ

needsPackage "TangentCone"

-- The weights, and the attention matrix A
R = kk[a_(1,1)..a_(2,2), v_(1,1)..v_(2,2)]
A = matrix table(2, 2, (i,b) -> a_(i+1,b+1))
V = matrix table(2, 2, (c,i) -> v_(c+1,i+1))

-- The coefficient of x_(i,s) x_(k,s) x_(b,t), s != t, in the entry (c,t) of V X X^T A X
multiindices = toList select((1,1,1,1)..(2,2,2,2), (c,b,i,k) -> i <= k)
phi = (A,V) -> matrix {apply(multiindices, (c,b,i,k) ->
    V_(c-1,i-1) * A_(k-1,b-1) + if i == k then 0 else V_(c-1,k-1) * A_(i-1,b-1))}

-- The y have the degree of their images, so that the kernel is homogeneous
-- and Macaulay2 can use its Hilbert function
graded = kk[apply(multiindices, j -> y_j), Degrees => toList(#multiindices : 2)]
I = kernel map(R, graded, phi(A,V))

-- Back to the standard grading
S = kk[gens graded]
I = trim sub(I, S)

-- One representative (label, A, V) of each stratum, labelled by (rk V, rk A, rk [V; A^T])
points = {
    ("0,0,0", matrix{{0,0},{0,0}}, matrix{{0,0},{0,0}}),
    ("1,1,1", matrix{{1,0},{0,0}}, matrix{{1,0},{0,0}}),
    ("1,1,2", matrix{{1,0},{0,0}}, matrix{{0,1},{0,0}}),
    ("1,2,2", matrix{{1,0},{0,1}}, matrix{{0,1},{0,0}}),
    ("2,1,2", matrix{{1,0},{0,0}}, matrix{{1,0},{0,1}}),
    ("2,2,2", matrix{{1,0},{0,1}}, matrix{{1,0},{0,1}})
}
points = apply(points, (label,A,V) -> (label, sub(A,kk), sub(V,kk)))

-- The group GL(2) x GL(2) x GL(2) moves p along its orbit. A slice across the orbit is cut out by holding
-- some coordinates fixed, as many as the orbit has dimensions. The tangent cone at p is that of the
-- slice, times the tangent space of the orbit.
units = n -> flatten table(n, n, (x,y) -> matrix table(n, n, (i,j) -> if (i,j) == (x,y) then 1_kk else 0_kk))
orbit = (A,V) -> matrix apply(
    apply(units 2, X -> phi(A*X,V)) | apply(units 2, X -> phi(A,X*V)) |
    apply(units 2, X -> phi(transpose X * A, V) + phi(A, V*X)), row -> {row})
pivotColumns = M -> (
    chosen := {};
    for j from 0 to numcols M - 1 do if rank M_(append(chosen,j)) > #chosen then chosen = append(chosen,j);
    chosen)

-- Move p to 0 and take the terms of lowest degree
coneAt = (p, fixed) -> (
    free := select(numgens S, j -> not member(j, fixed));
    if #free == 0 then return ideal 0_S;  -- the orbit is open
    slice := kk[apply(free, j -> S_j)];
    place := new HashTable from apply(#free, n -> free#n => slice_n);
    moved := apply(numgens S, j -> sub(p_(0,j), slice) + if place#?j then place#j else 0);
    cone := tangentCone ideal (map(slice, S, moved)) gens I;
    trim (map(S, slice, apply(free, j -> S_j))) cone)

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
<< "agattn-data 1 tangent-cone 60e39c5fd2d49de9" << endl
scan(points, (label,A,V) -> (
    C := coneAt(phi(A,V), pivotColumns orbit(A,V));
    sayInteger("dimension@" | label, dim C);
    sayInteger("multiplicity@" | label, degree C);
    sayInteger("span@" | label, numgens S - number(flatten entries mingens C, f -> first degree f == 1));
    sayPolynomials("cone@" | label, flatten entries mingens C)))
<< "agattn-end " << said << " " << checksum << endl
