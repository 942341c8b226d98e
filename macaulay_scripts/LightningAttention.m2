newPackage(
    "LightningAttention",
    Version => "2.0.0",
    Date => "29 November 2026",
    Headline => "neuromanifolds of lightning self-attention",
    Keywords => {"Applied Algebraic Geometry"},
    DebuggingMode => false
    )

-- The layer is phi(X) = V X X^T A X, where X is d x t, V is d' x d, and A = K^T Q is d x d of rank at most a.
-- In names of functions e stands for d'. HMK is the paper of Henry, Marchetti and Kohn, arXiv 2408.17221v2.

export {
    "Tokens",
    "neuroRing", "coefficientVector", "parametrization", "neuroIdeal", "neuroDimension", "neuroDegree",
    "strata", "stratumDimension", "representative", "tangentVectors", "isSingularStratum",
    "rankOneLocus", "singularLocusOf",
    "imageEquations", "namedEquations", "deepParametrization", "deepIdeal"
    }

layerOptions = {Tokens => 2, CoefficientRing => QQ}

checkLayer = (d,e,a) -> if d < 1 or e < 1 or a < 1 then
    error("expected positive integers d, e = d' and a, not ", toString(d,e,a))

checkStratum = (d,e,a,ranks) -> if not member(ranks, strata(d,e,a)) then
    error("expected one of strata", toString(d,e,a), ", not ", toString ranks)

-- A matrix of variables x_(1,1), ..., x_(m,n), of which the ring has those from the given place on
variablesMatrix = (R,place,m,n) -> matrix table(m, n, (i,j) -> R_(place + n*i + j))


-- Coordinates and the map ------------------------------------------------------------------------------

-- (c,b,i,k) with i <= k, in lexicographic order; for one token (c,i,j,k) with i <= j <= k
multiindices = (d,e,t) -> toList select((1,1,1,1)..(e,d,d,d),
    if t == 1 then (c,i,j,k) -> i <= j and j <= k else (c,b,i,k) -> i <= k)

-- One ring for each choice, so that ideals of several layers can be compared
makeRing = memoize((d,e,t,kk) -> (
    y := getSymbol if t == 1 then "z" else "y";
    kk[apply(multiindices(d,e,t), j -> y_j)]))

neuroRing = method(Options => layerOptions)
neuroRing(ZZ,ZZ) := Ring => o -> (d,e) -> (
    checkLayer(d,e,1);
    makeRing(d, e, if o.Tokens == 1 then 1 else 2, o.CoefficientRing))

coefficientVector = method(Options => {Tokens => 2})
coefficientVector(Matrix,Matrix) := Matrix => o -> (A,V) -> (
    (d,e) := (numcols V, numrows V);
    if numrows A != d or numcols A != d then error "expected A of size d x d and V of size d' x d";
    matrix {apply(multiindices(d,e,o.Tokens),
        if o.Tokens == 1 then (c,i,j,k) ->
            sum(unique permutations {i,j,k}, p -> V_(c-1,p#0-1) * A_(p#1-1,p#2-1))
        else (c,b,i,k) ->
            V_(c-1,i-1) * A_(k-1,b-1) + if i == k then 0 else V_(c-1,k-1) * A_(i-1,b-1))})

-- Generic weights (A,V) with A of rank at most a; the degree of phi(A,V) in their entries is 2 or 3.
-- With one token only A + A^T matters, which is any symmetric matrix as soon as 2a >= d. The entries of A
-- are called aa_(i,b), so that a can be a number.
genericWeights = (d,e,a,t,kk) -> (
    (u,k,q,v) := (getSymbol "aa", getSymbol "k", getSymbol "q", getSymbol "v");
    R := if t == 1 and 2*a >= d then kk[flatten for i from 1 to d list for j from i to d list u_(i,j), v_(1,1)..v_(e,d)]
        else if a >= d then kk[u_(1,1)..u_(d,d), v_(1,1)..v_(e,d)]
        else kk[k_(1,1)..k_(a,d), q_(1,1)..q_(a,d), v_(1,1)..v_(e,d)];
    A := if t == 1 and 2*a >= d then genericSymmetricMatrix(R,d)
        else if a >= d then variablesMatrix(R,0,d,d)
        else transpose variablesMatrix(R,0,a,d) * variablesMatrix(R,a*d,a,d);
    (A, variablesMatrix(R,numgens R - e*d,e,d)))

parametrization = method(Options => layerOptions)
parametrization(ZZ,ZZ,ZZ) := RingMap => o -> (d,e,a) -> (
    checkLayer(d,e,a);
    (A,V) := genericWeights(d,e,a,o.Tokens,o.CoefficientRing);
    map(ring A, neuroRing(d,e,o), coefficientVector(A,V,Tokens => o.Tokens)))

-- The kernel of a map given by forms of one degree. The variables get that degree, so that
-- the kernel is homogeneous and its Hilbert function helps to find it.
homogeneousKernel = F -> (
    S := source F;
    forms := flatten entries F.matrix;
    n := max apply(forms, f -> first degree f);
    graded := newRing(S, Degrees => toList(numgens S : n));
    trim sub(kernel map(target F, graded, forms), vars S))

-- The coordinates of a layer as a matrix with a row for each c, for each b, or for each (c,b)
flattenings = (d,e,kk) -> (
    S := neuroRing(d,e,CoefficientRing => kk);
    forms := pack(binomial(d+1,2), gens S);
    byColumn := for b to d-1 list flatten for c to e-1 list forms#(d*c+b);
    (matrix pack(d*binomial(d+1,2), gens S), matrix byColumn, matrix forms))

-- The ideal of the quadratic forms (V_1(u) k(u), ..., V_e(u) k(u)), whose coordinates are those of one column
productsIdeal = (k,V) -> (
    (d,e,R) := (numcols V, numrows V, ring V);
    y := flatten entries coefficientVector(k | map(R^d,R^(d-1),0), V);
    found := apply(positions(multiindices(d,e,2), j -> j#1 == 1), n -> y#n);
    trim kernel map(R, (coefficientRing R)[Variables => #found, Degrees => toList(#found : 2)], found))

commonFactor = (d,e,kk) -> (
    R := kk[Variables => d+d*e];
    productsIdeal(variablesMatrix(R,0,d,1), variablesMatrix(R,d,e,d)))

nondecreasing = (m,n) -> apply(subsets(m+n-1,n), s -> apply(n, j -> s#j - j))

-- The ideal of the points (x_r w_i) with w in the cone of J: of the 2 x 2 minors, which are given, and of the generators of
-- J with their factors w_i put in rows of the matrix. Modulo the minors it does not matter which factor is in which row.
segreProduct = (minors',M,J,rowsOf) -> (
    inRows := f -> (
        terms' := apply(listForm f, (powers,c) -> (flatten apply(#powers, i -> toList(powers#i : i)), c));
        n := #first first terms';
        apply(rowsOf n, rows -> sum(terms', (places,c) -> c * product(n, j -> M_(rows#j,places#j)))));
    found := flatten apply(select(J_*, f -> f != 0), inRows);
    if found == {} then trim minors' else trim minors' + ideal found)

-- For a = 1 a layer is a vector q times e quadratic forms with a common factor
neuroIdeal = method(Options => layerOptions)
neuroIdeal(ZZ,ZZ,ZZ) := Ideal => o -> (d,e,a) -> (
    checkLayer(d,e,a);
    if a > 1 or o.Tokens == 1 then return homogeneousKernel parametrization(d,e,a,o);
    (byOutput,byColumn,byForm) := flattenings(d,e,o.CoefficientRing);
    segreProduct(minors(2,byColumn), byColumn, commonFactor(d,e,o.CoefficientRing), n -> nondecreasing(d,n)))

neuroDimension = method(Options => {Tokens => 2})
neuroDimension(ZZ,ZZ,ZZ) := ZZ => o -> (d,e,a) -> (
    checkLayer(d,e,a);
    r := min(d, if o.Tokens == 1 then 2*a else a);
    if o.Tokens == 1 then r*(2*d-r+1)//2 + d*e - 1 else r*(2*d-r) + d*e - 1)

neuroDegree = method()
neuroDegree(ZZ,ZZ,ZZ) := ZZ => (d,e,a) -> (
    checkLayer(d,e,a);
    r := min(a,d);
    determinantal := product(d-r, i -> binomial(d+i,r)) // product(d-r, i -> binomial(r+i,r));
    preimages := if a == 1 and e == 1 and d > 1 then 2 else 1;
    binomial(r*(2*d-r) + d*e - 2, d*e - 1) * determinantal // preimages)


-- Strata -----------------------------------------------------------------------------------------------

strata = method()
strata(ZZ,ZZ,ZZ) := List => (d,e,a) -> (
    checkLayer(d,e,a);
    join({(0,0,0)}, toList select((1,1,1)..(min(d,e),min(d,a),d),
        (rV,rA,r) -> max(rV,rA) <= r and r <= rV + rA)))

stratumDimension = method()
stratumDimension(ZZ,ZZ,Sequence) := ZZ => (d,e,ranks) -> (
    checkStratum(d,e,d,ranks);
    (rV,rA,r) := ranks;
    s := rV + rA - r;
    if r == 0 then 0 else s*(d-s) + (rV-s)*(d-rV) + (rA-s)*(d-rA) + e*rV + d*rA - 1)

-- The rows of V are the first r_V unit vectors, the columns of A the last r_A of the first r
representative = method(Options => {CoefficientRing => QQ})
representative(ZZ,ZZ,Sequence) := Sequence => o -> (d,e,ranks) -> (
    checkStratum(d,e,d,ranks);
    (rV,rA,r) := ranks;
    entry := bool -> if bool then 1_(o.CoefficientRing) else 0_(o.CoefficientRing);
    (matrix table(d, d, (i,b) -> entry(b < rA and i == b + r - rA)),
     matrix table(e, d, (c,i) -> entry(c < rV and i == c))))

-- k and q with k q^T a given matrix of rank one
rankOneFactors = M -> (
    (i,j) := first select((0,0)..(numrows M - 1,numcols M - 1), p -> M_p != 0);
    (M_{j}, transpose M^{i} * (1/M_(i,j))))

units = (m,n,kk) -> flatten table(m, n, (x,y) -> map(kk^m, kk^n, {(x,y) => 1_kk}))

tangentVectors = method()
tangentVectors(ZZ,Sequence) := Matrix => (a,weights) -> tangentVectors(a, weights#0, weights#1)
tangentVectors(ZZ,Matrix,Matrix) := Matrix => (a,A,V) -> (
    (d,e,kk) := (numcols V, numrows V, ring A);
    a = min(a,d);
    if rank A > a then error("expected A of rank at most ", toString a);
    rows := vs -> matrix(kk, apply(vs, v -> first entries v));
    directions := M -> if rank M < a then units(d,d,kk)
        else apply(units(d,d,kk), E -> M*E) | apply(units(d,d,kk), E -> E*M);
    velocities := (A,V) -> apply(directions A, A' -> coefficientVector(A',V))
        | apply(units(e,d,kk), V' -> coefficientVector(A,V'));
    if A == 0 or V == 0 then return rows flatten table(units(d,d,kk), units(e,d,kk), coefficientVector);
    found := velocities(A,V);
    if rank A == 1 and rank V == 1 then (
        (k,q) := rankOneFactors A;
        (h,v) := rankOneFactors V;
        if rank(k|v) == 2 then found = found | velocities(v * transpose q, h * transpose k)
        else (
            i := position(flatten entries k, x -> x != 0);
            h = h * (v_(i,0)/k_(i,0));
            s := local s;
            L := kk[s];
            s = L_0;
            vectors := n -> units(n,1,kk);
            bent := flatten for w in vectors d list flatten for p in vectors d list (
                if a == 1 then {((k+s*w) * transpose(q+s^2*p), h * transpose(k-s*w))}
                else for m in vectors d list ((k+s*w) * transpose q + s^2*m*transpose p, h * transpose(k-s*w)));
            bent = bent | flatten for w in vectors d list flatten for g in vectors e list for n in vectors d list
                ((k+s*w) * transpose q, h * transpose(k-s*w) + s^2*g*transpose n);
            found = found | flatten apply(bent, (A,V) -> (
                y := coefficientVector(A,V);
                apply({s^2,s^3}, m -> sub(contract(m, y), s => 0_kk))));
            ));
    rows apply(found, v -> sub(v,kk)))

isSingularStratum = method()
isSingularStratum(ZZ,ZZ,ZZ,Sequence) := Boolean => (d,e,a,ranks) -> (
    checkStratum(d,e,a,ranks);
    (rV,rA,r) := ranks;
    if d == 1 then false
    else if r == 0 then true
    else if a == 1 and e == 1 then d > 2 and r == 1
    else (rA == 1 and rV == 1) or (a < d and rA < a))


-- Loci -------------------------------------------------------------------------------------------------

rankOneLocus = method(Options => {CoefficientRing => QQ})
rankOneLocus(ZZ,ZZ) := Ideal => o -> (d,e) -> (
    checkLayer(d,e,1);
    (byOutput,byColumn,byForm) := flattenings(d,e,o.CoefficientRing);
    rowsOf := n -> flatten table(nondecreasing(e,n), nondecreasing(d,n), (c,b) -> d*c + b);
    segreProduct(minors(2,byOutput) + minors(2,byForm), byForm, commonFactor(d,1,o.CoefficientRing), rowsOf))

singularLocusOf = method(Options => {CoefficientRing => QQ})
singularLocusOf(ZZ,ZZ,ZZ) := Ideal => o -> (d,e,a) -> (
    checkLayer(d,e,a);
    kk := o.CoefficientRing;
    S := neuroRing(d,e,o);
    if d == 1 then ideal 1_S
    else if a == 1 and e == 1 and d == 2 then ideal gens S
    else if a == 1 and e == 1 then (
        byColumn := (flattenings(d,1,kk))#1;
        k := variablesMatrix(kk[Variables => d],0,d,1);
        segreProduct(minors(2,byColumn), byColumn, productsIdeal(k, transpose k), n -> nondecreasing(d,n)))
    else if a == 1 or a >= d then rankOneLocus(d,e,o)
    else if a == 2 and (e == 1 or e*binomial(d+1,2) <= 24) then neuroIdeal(d,e,1,o)
    else (
        smaller := toString(d,e,a-1);
        error("the singular points are M", smaller, ", and the elimination neuroIdeal", smaller, " may take days;",
            " imageEquations(parametrization", smaller, ",n) has its equations of degree n, and isSingularStratum",
            " says which strata it consists of")))


-- Networks ---------------------------------------------------------------------------------------------

deepParametrization = method(Options => layerOptions)
deepParametrization(List,List) := RingMap => o -> (dims,ranks) -> (
    (l,t,kk) := (#ranks, o.Tokens, o.CoefficientRing);
    if #dims != l+1 or l == 0 then error "expected widths d_0, ..., d_l and as many ranks a_1, ..., a_l";
    if min(dims|ranks) < 1 then error "expected positive widths and ranks";
    (u,k,q,v,x) := (getSymbol "aa", getSymbol "k", getSymbol "q", getSymbol "v", getSymbol "x");
    full := i -> ranks#i >= dims#i;
    R := kk[flatten for i from 0 to l-1 list (
        (d,e,a) := (dims#i, dims#(i+1), ranks#i);
        (if full i then toList(u_(i+1,1,1)..u_(i+1,d,d)) else join(toList(k_(i+1,1,1)..k_(i+1,a,d)), toList(q_(i+1,1,1)..q_(i+1,a,d))))
        | toList(v_(i+1,1,1)..v_(i+1,e,d)))];
    T := R[x_(1,1)..x_(dims#0,t)];
    X := matrix table(dims#0, t, (i,j) -> T_(t*i + j));
    place := 0;
    take' := (m,n) -> (place = place + m*n; sub(variablesMatrix(R,place-m*n,m,n), T));
    for i from 0 to l-1 do (
        (d,e,a) := (dims#i, dims#(i+1), ranks#i);
        A := if full i then take'(d,d) else transpose take'(a,d) * take'(a,d);
        X = take'(e,d) * X * transpose X * A * X);
    -- Every other column is the first with its tokens exchanged, and so are the monomials in it
    tokensSorted := m -> (
        columns := transpose pack(t, m);
        columns == prepend(first columns, rsort drop(columns,1)));
    y := getSymbol "y";
    found := flatten for c from 0 to dims#l - 1 list (
        for p in listForm X_(c,0) list if tokensSorted p#0 then (y_(c+1, toSequence p#0), p#1) else continue);
    S := kk[apply(found, first)];
    map(R, S, apply(found, p -> sub(last p, R))))

-- All forms of degree n that vanish on the image of a map, by linear algebra
imageEquations = method()
imageEquations(RingMap,ZZ) := Matrix => (F,n) -> (
    S := source F;
    monomials' := basis(n,S);
    relations := syz sub(last coefficients F monomials', coefficientRing S);
    monomials' * sub(relations,S))

-- The named families of equations, by their names. The sum of x_c z_b f_(c,b), where f_(c,b) = y_(c,b)(u) is a
-- quadratic form, is half of bilinear(x,z,u,u); on the plane of the points s p + t q it has the coefficients
-- onPlane(x,z,p,q)/2. Further variables u, p, q, x, z are eliminated by taking all coefficients.
namedEquations = method(Options => {CoefficientRing => QQ})
namedEquations(ZZ,ZZ,ZZ) := HashTable => o -> (d,e,a) -> (
    checkLayer(d,e,a);
    S := neuroRing(d,e,CoefficientRing => o.CoefficientRing);
    indices := multiindices(d,e,2);
    y := hashTable apply(#indices, j -> indices#j => S_j);
    T := S[Variables => 3*d + e + d];
    (u,p,q,x,z) := (take(gens T,d), take(gens T,{d,2*d-1}), take(gens T,{2*d,3*d-1}),
        take(gens T,{3*d,3*d+e-1}), take(gens T,-d));
    unit := (n,i) -> apply(n, j -> if i == j then 1 else 0);
    bilinear := (x,z,p,q) -> sum(e, c -> sum(d, b -> x#c * z#b * sum(d, k -> sum(k+1, i ->
        y#(c+1,b+1,i+1,k+1) * (p#i * q#k + p#k * q#i)))));
    onPlane := (x,z,p,q) -> {bilinear(x,z,p,p), 2*bilinear(x,z,p,q), bilinear(x,z,q,q)};
    ideal' := fs -> ideal(fs | {0_S});
    allCoefficients := J -> if J == 0 then {} else apply(flatten entries last coefficients gens J, leadCoefficient);
    forms := matrix table(e, d, (c,b) -> bilinear(unit(e,c), unit(d,b), u, u));
    combination := matrix table(d, d, (i,k) -> bilinear(x, z, unit(d,i), unit(d,k)));
    dependent := three -> allCoefficients ideal det matrix three;
    -- Two forms of a row have the resultants S_4 E (x) S_(2,2) F (x) S_(4,4) U; random ones, twice as many and ten
    small := n -> apply(n, i -> random(-9,9));
    resultantOf := (f,g) -> (f#0*g#2 - f#2*g#0)^2 - (f#0*g#1 - f#1*g#0)*(f#1*g#2 - f#2*g#1);
    fourth := n -> binomial(n+3,4);
    square := n -> n^2*(n^2-1)//12;
    planes := (d+3)*(d+2)^2*(d+1)^2*d^2*(d-1)//2880;
    ofRows := for n to 2*fourth e * square d * planes + 9 list (
        (x,p,q) := (small e, small d, small d);
        resultantOf(onPlane(x, small d, p, q), onPlane(x, small d, p, q)));
    ofColumns := for n to 2*square e * fourth d * planes + 9 list (
        (z,p,q) := (small d, small d, small d);
        resultantOf(onPlane(small e, z, p, q), onPlane(small e, z, p, q)));
    byColumn := matrix for b from 1 to d list apply(select(indices, j -> j#1 == b), j -> y#j);
    hashTable {
        "form minors" => trim ideal' if min(d,e) == 1 then {} else allCoefficients minors(2, forms),
        "products" => trim ideal' if d < 3 then {} else allCoefficients minors(3, combination),
        "dependent forms" => trim ideal' join(
            flatten apply(subsets(d,3), s -> dependent apply(s, b -> onPlane(x, unit(d,b), p, q))),
            flatten apply(subsets(e,3), s -> dependent apply(s, c -> onPlane(unit(e,c), z, p, q)))),
        "resultants" => trim ideal' if d == 1 then {} else join(ofRows, if e == 1 then {} else ofColumns),
        "flattening minors" => trim if a < d then minors(a+1, byColumn) else ideal 0_S})

deepIdeal = method(Options => layerOptions)
deepIdeal(List,List,ZZ) := Ideal => o -> (dims,ranks,n) -> (
    F := deepParametrization(dims,ranks,o);
    trim sum(1..n, k -> ideal imageEquations(F,k)))


-- Documentation ----------------------------------------------------------------------------------------

beginDocumentation()

doc ///
Key
    LightningAttention
Headline
    neuromanifolds of lightning self-attention
Description
    Text
        A layer of lightning self-attention is the map $\varphi(X) = V X X^T A X$ on $d \times t$ matrices $X$, whose
        columns are tokens. Here $V$ is $d' \times d$, and $A = K^T Q$ is $d \times d$ of rank at most $a$. The set of all
        such maps is the {\em neuromanifold} $M(d,d',a)$; its Zariski closure is an affine cone.

        For $t \ge 2$ the coefficients of $\varphi$ are, up to a linear isomorphism that does not depend on the weights, those of
        the quadratic forms $V_c(u) \cdot A_b(u)$, a product of row $c$ of $V$ and column $b$ of $A$ read as linear forms:
        $y_{c,b,i,k} = V_{ci} A_{kb} + V_{ck} A_{ib}$ for $i < k$ and $y_{c,b,i,i} = V_{ci} A_{ib}$. These are the
        coordinates of this package, written {\tt y_(c,b,i,k)}. For one token ({\tt Tokens => 1}) they are the coefficients
        {\tt z_(c,i,j,k)} of the cubic forms $V_c(x) \cdot x^T A x$.

        Each function says for which sizes it finishes in seconds, on one core.

        The letter $e$ stands for $d'$ in names and examples. This is the quartic hypersurface $M(2,1,2)$:
    Example
        I = neuroIdeal(2,1,2)
        dim I, degree I
        isPrime I
    Text
        Its singular points are those with $rk A = rk V = 1$, and 0:
    Example
        radical(I + minors(codim I, jacobian I)) == singularLocusOf(2,1,2)
        for s in strata(2,1,2) list s => isSingularStratum(2,1,2,s)
References
    Nathan W. Henry, Giovanni Luca Marchetti, Kathlén Kohn: Geometry of Lightning Self-Attention: Identifiability and Dimension.
    ICLR 2025, arXiv:2408.17221v2. Below: HMK.

    This package is part of agattn, whose file CITATION.cff says how to cite it.
Subnodes
    neuroRing
    coefficientVector
    parametrization
    neuroIdeal
    neuroDimension
    neuroDegree
    strata
    stratumDimension
    representative
    tangentVectors
    isSingularStratum
    rankOneLocus
    singularLocusOf
    imageEquations
    namedEquations
    deepParametrization
    deepIdeal
    Tokens
///

doc ///
Key
    Tokens
Headline
    the number of tokens
Description
    Text
        One token, {\tt Tokens => 1}, or more, which is the default. For a single layer all numbers $t \ge 2$ give the same
        variety; for networks the number matters.

        What finishes with how many tokens is said at each function.
    Example
        neuroDimension(3,2,1), neuroDimension(3,2,1,Tokens => 1)
///

doc ///
Key
    neuroRing
    (neuroRing,ZZ,ZZ)
    [neuroRing,Tokens]
    [neuroRing,CoefficientRing]
Headline
    the coordinates of a neuromanifold
Usage
    neuroRing(d,e)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    Tokens => ZZ
        the number $t$ of tokens, of which 2 stands for all larger ones
    CoefficientRing => Ring
        the field
Outputs
    :PolynomialRing
        with the variables $y_{(c,b,i,k)}$, $i \le k$, or for one token $z_{(c,i,j,k)}$, $i \le j \le k$
Description
    Text
        Calling it again gives the same ring, so that ideals of layers that differ in $a$ alone can be compared.

        In seconds up to $d = d' = 10$, with 5500 variables.
    Example
        neuroRing(2,1)
        gens neuroRing(2,1,Tokens => 1)
///

doc ///
Key
    coefficientVector
    (coefficientVector,Matrix,Matrix)
    [coefficientVector,Tokens]
Headline
    the coordinates of a layer with given weights
Usage
    coefficientVector(A,V)
Inputs
    A:Matrix
        of size $d \times d$
    V:Matrix
        of size $d' \times d$
    Tokens => ZZ
        the number $t$ of tokens, of which 2 stands for all larger ones
Outputs
    :Matrix
        with one row, in the order of the variables of @TO neuroRing@
Description
    Text
        See HMK, Proposition A.5.

        A formula: any size, and a second for matrices of numbers with $d = d' = 20$.
    Example
        coefficientVector(matrix{{1,2},{3,4}}, matrix{{5,7}})
///

doc ///
Key
    parametrization
    (parametrization,ZZ,ZZ,ZZ)
    [parametrization,Tokens]
    [parametrization,CoefficientRing]
Headline
    the coordinates as polynomials in the weights
Usage
    parametrization(d,e,a)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    a:ZZ
        the largest rank $a$ of $A$
    Tokens => ZZ
        the number $t$ of tokens, of which 2 stands for all larger ones
    CoefficientRing => Ring
        the field
Outputs
    :RingMap
        from @TO neuroRing@ to a ring of weights: entries {\tt aa_(i,b)} of $A$, or of $K$ and $Q$ where $a < d$, and of $V$
Description
    Text
        A formula: any size, and a second for $d = d' = 10$.
    Example
        parametrization(2,1,2)
        target parametrization(3,1,1)
///

doc ///
Key
    neuroIdeal
    (neuroIdeal,ZZ,ZZ,ZZ)
    [neuroIdeal,Tokens]
    [neuroIdeal,CoefficientRing]
Headline
    the ideal of a neuromanifold
Usage
    neuroIdeal(d,e,a)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    a:ZZ
        the largest rank $a$ of $A$
    Tokens => ZZ
        the number $t$ of tokens, of which 2 stands for all larger ones
    CoefficientRing => Ring
        the field
Outputs
    :Ideal
        of the Zariski closure of $M(d,d',a)$
Description
    Text
        The kernel of @TO parametrization@, by elimination. This finishes in seconds for $d = 2$ with $d' \le 3$, and for $d = 3$
        with $d' = 1$ and $a \geq 3$. For $a = 1$ a layer is a vector times $d'$ quadratic forms with a common factor, and only the
        ideal of these forms is eliminated: in seconds for $d = 2$ with $d' \le 8$, for $d = 3$ with $d' \le 3$, and for $d \le 6$
        with $d' = 1$; in one or two minutes, over {\tt ZZ/32003}, for $(d,d') = (3,4)$ and $(4,2)$. With one token in seconds for
        $d = 2$ with $d' \le 4$, and over {\tt ZZ/32003} for $d = 3$ with $d' = 1$. For larger layers @TO imageEquations@ finds
        the equations degree by degree.
    Example
        I = neuroIdeal(2,2,2);
        tally apply(I_*, f -> first degree f)
        dim I == neuroDimension(2,2,2), degree I == neuroDegree(2,2,2)
///

doc ///
Key
    neuroDimension
    (neuroDimension,ZZ,ZZ,ZZ)
    [neuroDimension,Tokens]
Headline
    the dimension of a neuromanifold
Usage
    neuroDimension(d,e,a)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    a:ZZ
        the largest rank $a$ of $A$
    Tokens => ZZ
        the number $t$ of tokens, of which 2 stands for all larger ones
Outputs
    :ZZ
        $r (2d - r) + d d' - 1$ with $r = min(a,d)$
Description
    Text
        This is HMK, Corollary 3.3. For one token only $A + A^T$ matters, of rank at most $r = min(2a,d)$, and the dimension is
        $r(2d-r+1)/2 + d d' - 1$.

        A formula: any size.
    Example
        neuroDimension(3,2,2), neuroDimension(3,2,2,Tokens => 1)
///

doc ///
Key
    neuroDegree
    (neuroDegree,ZZ,ZZ,ZZ)
Headline
    the degree of a neuromanifold
Usage
    neuroDegree(d,e,a)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    a:ZZ
        the largest rank $a$ of $A$
Outputs
    :ZZ
        the degree of the projective variety
Description
    Text
        For at least two tokens. Up to scaling $(A,V)$ is a point of the product of a determinantal variety and a projective space,
        in its Segre embedding, and $M(d,d',a)$ is the image of a projection without base points. So the degree is that of the
        product, divided by the degree of the map, which is 2 for $a = d' = 1 < d$ and else 1.

        A formula: any size.
    Example
        neuroDegree(2,2,2), neuroDegree(3,1,1), neuroDegree(3,2,2)
///

doc ///
Key
    strata
    (strata,ZZ,ZZ,ZZ)
Headline
    the ranks that occur in a neuromanifold
Usage
    strata(d,e,a)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    a:ZZ
        the largest rank $a$ of $A$
Outputs
    :List
        of triples $(rk V, rk A, rk [V; A^T])$, first (0,0,0) for $\varphi = 0$
Description
    Text
        $GL(d') \times GL(d) \times GL(d)$ acts on the rows of $V$, on the columns of $A$, and on the index that $V$ and $A$ share:
        $(V, A)$ is a representation of a quiver of type $A_3$. So there are finitely many orbits, which the ranks tell apart, and
        what is invariant under the group can be decided at one @TO representative@ of each.

        A formula: any size.
    Example
        for s in strata(3,2,2) list (s, stratumDimension(3,2,s))
///

doc ///
Key
    stratumDimension
    (stratumDimension,ZZ,ZZ,Sequence)
Headline
    the dimension of a stratum
Usage
    stratumDimension(d,e,s)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    s:Sequence
        one of @TO strata@
Outputs
    :ZZ
        the dimension of the set of its points $\varphi$
Description
    Text
        A formula: any size.
    Example
        stratumDimension(3,2,(2,1,3))
///

doc ///
Key
    representative
    (representative,ZZ,ZZ,Sequence)
    [representative,CoefficientRing]
Headline
    weights of one point of a stratum
Usage
    representative(d,e,s)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    s:Sequence
        one of @TO strata@
    CoefficientRing => Ring
        the field
Outputs
    :Sequence
        matrices $A$ and $V$
Description
    Text
        A formula: any size.
    Example
        representative(3,2,(2,1,3))
///

doc ///
Key
    tangentVectors
    (tangentVectors,ZZ,Matrix,Matrix)
    (tangentVectors,ZZ,Sequence)
Headline
    tangent vectors of a neuromanifold
Usage
    tangentVectors(a,A,V)
    tangentVectors(a,(A,V))
Inputs
    a:ZZ
        the largest rank $a$ of $A$
    A:Matrix
        of size $d \times d$ and rank at most $a$, over a field
    V:Matrix
        of size $d' \times d$
Outputs
    :Matrix
        whose rows are tangent vectors of $M(d,d',a)$ at the layer with these weights
Description
    Text
        The rows are velocities of curves in $M(d,d',a)$, one for each way of reaching the point. Through $(A,V)$ run the curves
        $(A + sA', V + sV')$ with $A'$ in the tangent cone of the matrices of rank at most $a$. If $A = k q^T$ and $V = h v^T$,
        the point has the other preimage $(v q^T, h k^T)$ too (HMK, Theorem 3.2), or, where $k$ and $v$ are parallel, there are
        curves with velocity 0, of which the coefficients of $s^2$ and $s^3$ are tangent vectors. At 0 every point is one.

        In seconds for $d, d' \le 5$; points with ranks $(1,1,1)$ take longest.

        More than $dim M$ linearly independent tangent vectors prove that the point is singular. The smallest layer with such
        a point outside $rk A = rk V = 1$ is $M(3,2,2)$:
    Example
        rank tangentVectors(2, representative(3,2,(2,1,3)))
        neuroDimension(3,2,2)
///

doc ///
Key
    isSingularStratum
    (isSingularStratum,ZZ,ZZ,ZZ,Sequence)
Headline
    whether the points of a stratum are singular
Usage
    isSingularStratum(d,e,a,s)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    a:ZZ
        the largest rank $a$ of $A$
    s:Sequence
        one of @TO strata@
Outputs
    :Boolean
        true if the points of the stratum are singular points of $M(d,d',a)$
Description
    Text
        For at least two tokens, and singular points of the Zariski closure. They are those with $rk A = rk V = 1$ (HMK, Theorem 3.4)
        and for $2 \le a < d$ also those with $rk A < a$, which the theorem in version 2 does not name; and 0, if $d \ge 2$.
        For $a = d' = 1$ they are $(1,1,1)$, if $d \ge 3$, and 0.

        A formula: any size.
    Example
        select(strata(3,2,2), s -> isSingularStratum(3,2,2,s))
///

doc ///
Key
    rankOneLocus
    (rankOneLocus,ZZ,ZZ)
    [rankOneLocus,CoefficientRing]
Headline
    the ideal of the closure of the points with A and V of rank at most 1
Usage
    rankOneLocus(d,e)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    CoefficientRing => Ring
        the field
Outputs
    :Ideal
        of all $h \otimes q \otimes Q$ with $Q$ a quadratic form of rank at most 2
Description
    Text
        Generated by the $2 \times 2$ minors of flattenings of the tensor $y$ and the $3 \times 3$ minors of $Q$, whose factors
        are taken from all slices of $y$. Its points with $Q$ definite are not in $M$.

        In a second for $d = 2$ with $d' \le 12$, $d = 3$ with $d' \le 5$, $d = 4$ with $d' \le 2$, and $d = 5$ with $d' = 1$.
    Example
        Z = rankOneLocus(2,2);
        dim Z, degree Z
///

doc ///
Key
    singularLocusOf
    (singularLocusOf,ZZ,ZZ,ZZ)
    [singularLocusOf,CoefficientRing]
Headline
    the ideal of the singular points
Usage
    singularLocusOf(d,e,a)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    a:ZZ
        the largest rank $a$ of $A$
    CoefficientRing => Ring
        the field
Outputs
    :Ideal
        of the Zariski closure of the singular points of $M(d,d',a)$
Description
    Text
        The closure of the strata for which @TO isSingularStratum@ is true: $M(d,d',a-1)$ if $2 \le a < d$, and elsewhere
        @TO rankOneLocus@, save for $a = d' = 1$. No minors of a Jacobian are taken. Where elimination cannot be expected to
        find $M(d,d',a-1)$, as for $a \ge 3$, an error says so.

        In a second where this is @TO rankOneLocus@ and that takes one. For $a = 2 < d$ it is {\tt neuroIdeal(d,e,1)}: in seconds
        for $(d,d') = (3,2)$, $(3,3)$ and for $d \le 6$ with $d' = 1$, in one or two minutes, over
        {\tt ZZ/32003}, for $(3,4)$ and $(4,2)$.

        This is the smallest counterexample to HMK, Theorem 3.4:
    Example
        Z = singularLocusOf(3,2,2,CoefficientRing => ZZ/32003);
        dim Z, degree Z
        tally apply(Z_*, f -> first degree f)
///

doc ///
Key
    namedEquations
    (namedEquations,ZZ,ZZ,ZZ)
    [namedEquations,CoefficientRing]
Headline
    families of equations of a neuromanifold by their meaning
Usage
    namedEquations(d,e,a)
Inputs
    d:ZZ
        the width $d$ of the input
    e:ZZ
        the output dimension $d'$
    a:ZZ
        the largest rank $a$ of $A$
    CoefficientRing => Ring
        the field
Outputs
    :HashTable
        the ideal of each family, by its name
Description
    Text
        A point of the neuromanifold is a $d' \times d$ matrix of quadratic forms $V_c(u) A_b(u)$, for at least two tokens.
        "form minors": this matrix has rank one. "products": every combination of the forms is a product of two linear forms, so
        that its symmetric matrix has rank at most 2. "dependent forms": the forms of a row, or of a column, have a common factor,
        so that three of them are dependent on every plane. "resultants": two of them have a common zero on every plane; random
        planes are taken, twice as many as give independent equations and ten. "flattening minors": the matrix with a row for each
        column of $A$ has rank at most $a$.

        All families together cut the closure out as a set. For $d = 2$, and for $d = 3$ and $d' = 1$, they generate the whole
        ideal; for $d = 3$ and $d' \le 3$ all equations of degree at most 4.

        In seconds for $d = 2$ with $d' \le 3$, and over {\tt ZZ/32003} for $(d,d') = (3,1)$. The resultants take most of the time.
    Example
        F = namedEquations(2,2,1);
        applyValues(F, I -> tally apply(I_*, f -> first degree f))
        sum values F == neuroIdeal(2,2,1)
SeeAlso
    imageEquations
    neuroIdeal
///

doc ///
Key
    imageEquations
    (imageEquations,RingMap,ZZ)
Headline
    all equations of one degree
Usage
    imageEquations(F,n)
Inputs
    F:RingMap
        such as @TO parametrization@ or @TO deepParametrization@
    n:ZZ
        a degree
Outputs
    :Matrix
        with one row: a basis of the forms of degree $n$ in the kernel of $F$
Description
    Text
        By linear algebra over the coefficient field, which goes further than elimination. In seconds it finds the equations of
        degree 2 for $d, d' \le 3$ and $M(4,2,2)$, of degree 3 for $(d,d') = (3,1)$, and of degree 4 for $d = 2$ with $d' \le 3$;
        the cubics of $M(3,2,2)$ and the quartics of $M(3,1,2)$, over {\tt ZZ/32003}, in a minute. The 45 quadrics of $M(3,2,2)$:
    Example
        numcols imageEquations(parametrization(3,2,2), 2)
///

doc ///
Key
    deepParametrization
    (deepParametrization,List,List)
    [deepParametrization,Tokens]
    [deepParametrization,CoefficientRing]
Headline
    the coefficients of a network as polynomials in its weights
Usage
    deepParametrization(dims,ranks)
Inputs
    dims:List
        the widths $d_0, ..., d_l$
    ranks:List
        the attention dimensions $a_1, ..., a_l$
    Tokens => ZZ
        the number $t$ of tokens
    CoefficientRing => Ring
        the field
Outputs
    :RingMap
        from a ring with one variable {\tt y_(c,m)} for the monomial with exponents $m$, in the entries of $X$ row by row, in output $c$
Description
    Text
        Only the first column of the output is taken, and of the monomials that arise from each other when the other tokens are
        exchanged only one: the other coefficients are the same.

        In seconds for two layers with one token and widths 2, 2, 2 or 3, 2, 1, with two tokens and widths 2, 2, 2 or 3, 1, 1,
        and with three tokens and widths 2, 1, 1; for three layers with one token and widths 2, 1, 1, 1.
    Example
        F = deepParametrization({2,1,1},{1,1},Tokens => 1);
        numgens source F, numgens target F
///

doc ///
Key
    deepIdeal
    (deepIdeal,List,List,ZZ)
    [deepIdeal,Tokens]
    [deepIdeal,CoefficientRing]
Headline
    the equations of a network up to a degree
Usage
    deepIdeal(dims,ranks,n)
Inputs
    dims:List
        the widths $d_0, ..., d_l$
    ranks:List
        the attention dimensions $a_1, ..., a_l$
    n:ZZ
        the largest degree
    Tokens => ZZ
        the number $t$ of tokens
    CoefficientRing => Ring
        the field
Outputs
    :Ideal
        generated by all equations of degree at most $n$
Description
    Text
        With one token a network of widths 2, 1, 1 computes cubes of binary cubics: the third Veronese threefold, of degree 27,
        projected to $P^9$. It lies on no cubics, and on 260 quartics. With two tokens the coefficients satisfy linear relations.

        In seconds for widths 2, 1, 1 and ranks 1, 1 up to degree 4 with one token and up to degree 2 with two; with one token up to
        degree 2 also for widths 2, 2, 1, and over {\tt ZZ/32003} for widths 3, 1, 1.
    Example
        deepIdeal({2,1,1},{1,1},3,Tokens => 1)
        numgens deepIdeal({2,1,1},{1,1},1,Tokens => 2)
///


-- Tests ------------------------------------------------------------------------------------------------

-- Dimensions, degrees and generators by elimination
TEST ///
expected = {
    ((1,2,1), {}), ((2,1,1), {3 => 2}), ((2,1,2), {1 => 4}), ((2,2,1), {15 => 2, 5 => 4}),
    ((2,2,2), {5 => 2, 10 => 4}), ((2,3,1), {36 => 2, 4 => 3, 30 => 4}), ((3,1,1), {45 => 2, 10 => 3})}
for p in expected do (
    I = neuroIdeal(p#0, CoefficientRing => ZZ/32003);
    assert(dim I == neuroDimension p#0 and degree I == neuroDegree p#0);
    counts = tally apply(select(I_*, f -> f != 0), f -> first degree f);
    assert(set apply(pairs counts, (n,k) -> k => n) === set p#1))
assert((neuroDegree(2,3,2), neuroDegree(3,1,3), neuroDegree(1,5,2)) == (56,45,1))
I = neuroIdeal(2,1,2)
assert isPrime I
assert(sub(gens I, coefficientVector(matrix{{2_QQ,-1},{3,5}}, matrix{{1_QQ,4}})) == 0)
///

-- The map is the coefficient of x_(i,1) x_(k,1) x_(b,2) in V X X^T A X
TEST ///
R = QQ[a_(1,1)..a_(3,3),v_(1,1)..v_(2,3)][x_(1,1)..x_(3,2)]
A = matrix table(3,3,(i,b) -> a_(i+1,b+1))
V = matrix table(2,3,(c,i) -> v_(c+1,i+1))
X = matrix table(3,2,(i,t) -> x_(i+1,t+1))
out = V*X*transpose X*A*X
direct = flatten flatten for c to 1 list for b from 1 to 3 list flatten for i from 1 to 3 list for k from i to 3 list
    coefficient(x_(i,1)*x_(k,1)*x_(b,2), out_(c,1))
assert(direct == flatten entries coefficientVector(A,V))
X = X_{0}
out = V*X*transpose X*A*X
direct = flatten flatten for c to 1 list for i from 1 to 3 list flatten for j from i to 3 list for k from j to 3 list
    coefficient(x_(i,1)*x_(j,1)*x_(k,1), out_(c,0))
assert(direct == flatten entries coefficientVector(A,V,Tokens => 1))
///

-- One token
TEST ///
assert(dim neuroIdeal(2,1,2,Tokens => 1) == 4 and neuroIdeal(2,1,2,Tokens => 1) == 0)
F = parametrization(3,1,1,Tokens => 1,CoefficientRing => ZZ/32003)
assert(numcols imageEquations(F,3) == 0 and numcols imageEquations(F,4) == 35)
point = matrix{apply(numgens target F, i -> (i+1)^2_(ZZ/32003))}
assert(rank sub(jacobian F.matrix, point) == neuroDimension(3,1,1,Tokens => 1))
///

-- Tangent spaces at the strata, and the singular points
TEST ///
tangentDimension = (d,e,a,s) -> (
    (rV,rA,r) := s;
    if r == 0 then e*d*d*(d+1)//2
    else if s == (1,1,2) then (if a == 1 then e*(2*d-1)+d-1 else (d+e-1)*(2*d-1))
    else if s == (1,1,1) then (if a == 1 then e*d*(d+1)//2+d-1 else (d+e-1)*d*(d+1)//2)
    else if rA < a and a < d then d^2+d*e-1
    else neuroDimension(d,e,a))
for p in {(2,1,1),(2,1,2),(2,2,1),(2,2,2),(3,1,1),(3,1,2),(3,1,3),(3,2,1),(3,2,2)} do for s in strata p do (
    (d,e,a) = p;
    n = rank tangentVectors(a, representative(d,e,s));
    assert(n == tangentDimension(d,e,a,s));
    assert(isSingularStratum(d,e,a,s) == (n > neuroDimension p)))
assert(#strata(3,2,2) == 9 and max apply(strata(3,2,2), s -> stratumDimension(3,2,s)) == 13)
///

-- Layers with a = 1, by elimination and without; the counterexample; and what is refused
TEST ///
for p in {(1,2,1),(2,1,1),(2,2,1),(3,1,1)} do assert(neuroIdeal p == kernel parametrization p)
assert(rankOneLocus(2,2) == kernel map(QQ[h_0,h_1,q_0,q_1,u,v,w], neuroRing(2,2),
    flatten flatten table({h_0,h_1}, {q_0,q_1}, (h,q) -> {h*q*u, h*q*v, h*q*w})))
assert(rankOneLocus(3,1) == neuroIdeal(3,1,1))
kk = ZZ/32003
Z = singularLocusOf(3,2,2,CoefficientRing => kk)
assert((dim Z, degree Z) == (neuroDimension(3,2,1), neuroDegree(3,2,1)))
assert(tally apply(Z_*, f -> first degree f) === new Tally from {2 => 198, 3 => 40, 4 => 225})
vanishes = s -> sub(gens Z, coefficientVector representative(3,2,s,CoefficientRing => kk)) == 0
for s in strata(3,2,2) do assert(vanishes s == isSingularStratum(3,2,2,s))
for f in {() -> isSingularStratum(3,2,2,(5,5,5)), () -> isSingularStratum(3,2,2,(2,3,3)), () -> stratumDimension(3,2,(3,1,3)),
    () -> representative(3,2,(1,1,3)), () -> singularLocusOf(4,1,3)} do assert try f() then false else true
///

-- The singular points, by the Jacobian
TEST ///
I = neuroIdeal(2,1,2)
assert(radical(I + minors(codim I, jacobian I)) == singularLocusOf(2,1,2))
I = neuroIdeal(2,1,1)
assert(radical(I + minors(codim I, jacobian I)) == singularLocusOf(2,1,1))
for p in {(2,1,4,3),(2,2,5,12),(2,3,6,30),(3,1,7,45)} do (
    Z = rankOneLocus(p#0,p#1);
    assert((dim Z, degree Z) == (p#2,p#3)))
assert isSubset(neuroIdeal(2,2,2), rankOneLocus(2,2))
assert(singularLocusOf(1,3,1) == 1 and singularLocusOf(3,1,2) == neuroIdeal(3,1,1))
assert(dim singularLocusOf(3,1,1) == stratumDimension(3,1,(1,1,1)))
///

-- Families of equations against elimination, or against all forms of a degree
TEST ///
for p in {(2,1,1),(2,1,2),(2,2,1),(2,2,2)} do assert(trim sum values namedEquations p == neuroIdeal p)
F = namedEquations(3,1,2,CoefficientRing => ZZ/32003)
assert(apply({"form minors","products","dependent forms"}, n -> numgens trim F#n) == {0,10,10})
I = F#"products" + F#"flattening minors"
J = ideal imageEquations(parametrization(3,1,2,CoefficientRing => ZZ/32003),3)
-- All of them are cubics: the two ideals are equal, and contain the third, if all together have no more
all' = I + J + F#"dependent forms"
assert all(all'_*, f -> first degree f == 3)
assert(numgens trim I == 30 and numgens J == 30 and numgens trim all' == 30)
///

-- Equations by degree, and networks
TEST ///
assert(numcols imageEquations(parametrization(3,1,2,CoefficientRing => ZZ/32003),3) == 30)
assert(numcols imageEquations(parametrization(3,2,2),2) == 45)
assert(ideal imageEquations(parametrization(2,1,1),2) == neuroIdeal(2,1,1))
-- a network of one layer is a layer, in all coefficients of the first column
I = deepIdeal({2,1},{2},4,Tokens => 2,CoefficientRing => ZZ/32003)
assert((dim I, degree I) == (5,4))
F = deepParametrization({2,1,1},{1,1},Tokens => 1,CoefficientRing => ZZ/32003)
assert(apply({1,2,3,4}, n -> numcols imageEquations(F,n)) == {0,0,0,260})
///
