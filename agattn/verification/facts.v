(* What is computed with ------------------------------------------------------------------------- *)

(* A vector: pairs of the name of a coordinate and its value; what is not listed is 0.
   A matrix: entries (row, column, n, x) for the term x ε^n at (row, column). *)
Definition name := list Z.
Definition vector := list (name * Z).
Definition matrix := list (Z * Z * Z * Z).

Definition range (n : Z) : list Z := map Z.of_nat (seq 1 (Z.to_nat n)).

Fixpoint order (m n : name) : comparison :=
  match m, n with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | x :: m, y :: n => match x ?= y with Eq => order m n | c => c end
  end.

Fixpoint add (n : name) (x : Z) (v : vector) : vector :=
  match v with
  | [] => if x =? 0 then [] else [(n, x)]
  | (m, y) :: w =>
      match order n m with
      | Lt => if x =? 0 then v else (n, x) :: v
      | Eq => if x + y =? 0 then w else (n, x + y) :: w
      | Gt => (m, y) :: add n x w
      end
  end.

(* Terms of one name added up, sorted by name, without what is then 0. *)
Definition collected (terms : vector) : vector :=
  fold_right (fun term v => add (fst term) (snd term) v) [] terms.

(* KᵀQ: the terms of its entries. *)
Definition attention (K Q : matrix) : matrix :=
  flat_map (fun '(r, k, p, x) => flat_map (fun '(s, b, q, z) =>
    if r =? s then [(k, b, p + q, x * z)] else []) Q) K.

(* The terms of φ(A, V), the products V_c(u)·A_b(u) of linear forms. *)
Definition terms (A V : matrix) : vector :=
  flat_map (fun '(c, i, p, x) => map (fun '(k, b, q, z) =>
    ([p + q; c; b; Z.min i k; Z.max i k], x * z)) A) V.

Definition phi (A V : matrix) : vector := collected (terms A V).

(* The derivative of φ at (A, V) along (dA, dV). *)
Definition differential (A V dA dV : matrix) : vector := collected (terms dA V ++ terms A dV).

(* The coefficient of ε^p, or what else has a name that begins with p. *)
Definition coefficient (p : Z) (v : vector) : vector :=
  flat_map (fun '(n, x) => match n with q :: m => if q =? p then [(m, x)] else [] | [] => [] end) v.

(* The rows and the columns of a matrix that are not 0. *)
Definition nonempty {X : Type} (l : list X) : bool := match l with [] => false | _ => true end.
Definition rows (M : matrix) : list matrix :=
  filter nonempty (map (fun n => filter (fun '(i, _, _, _) => i =? n) M) (range (Z.max d o))).
Definition columns (M : matrix) : list matrix :=
  filter nonempty (map (fun n => filter (fun '(_, j, _, _) => j =? n) M) (range d)).
Definition row_forms (M : matrix) : list vector := map (map (fun '(_, j, n, x) => ([j; n], x))) (rows M).
Definition column_forms (M : matrix) : list vector := map (map (fun '(i, _, n, x) => ([i; n], x))) (columns M).
Definition entries (M : matrix) : vector := map (fun '(i, j, n, x) => ([i; j; n], x)) M.
Definition units (rows : Z) : list matrix :=
  flat_map (fun i => map (fun j => [(i, j, 0, 1)]) (range d)) (range rows).
Definition fits (rows : Z) (M : matrix) : bool :=
  forallb (fun '(i, j, n, _) => (1 <=? i) && (i <=? rows) && (1 <=? j) && (j <=? d) && (0 <=? n)) M.

(* Ranks from below ------------------------------------------------------------------------------- *)

Fixpoint value (v : vector) (n : name) : Z :=
  match v with
  | [] => 0
  | (m, x) :: w => (match order m n with Eq => x | _ => 0 end) + value w n
  end.

Fixpoint combination (c : list Z) (vs : list vector) (n : name) : Z :=
  match c, vs with
  | x :: c, v :: vs => x * value v n + combination c vs n
  | _, _ => 0
  end.

Definition independent (vs : list vector) : Prop :=
  forall c, length c = length vs -> (forall n, combination c vs n = 0) -> forall x, In x c -> x = 0.

(* They span at least r dimensions. *)
Definition spans (vs : list vector) (r : Z) : Prop :=
  exists basis, independent basis /\ incl basis vs /\ Z.of_nat (length basis) = r.

(* They span r dimensions: r of them are independent, and the others are equal to some of these. *)
Definition rank_is (vs : list vector) (r : Z) : Prop :=
  exists basis, independent basis /\ (forall v, In v basis <-> In v vs) /\ Z.of_nat (length basis) = r.

(* Functionals w whose values at the vectors are D times the identity prove that these are independent. *)
Fixpoint pairing (w v : vector) : Z :=
  match w with
  | [] => 0
  | (n, x) :: w => x * value v n + pairing w v
  end.

Definition diagonal (D : Z) (n : nat) : list (list Z) :=
  map (fun i => map (fun j => if Nat.eqb i j then D else 0) (seq 0 n)) (seq 0 n).

Fixpoint dot (c r : list Z) : Z :=
  match c, r with
  | x :: c, y :: r => x * y + dot c r
  | _, _ => 0
  end.

Lemma dot_unit : forall D c k i, (k <= i)%nat ->
  dot c (map (fun j => if Nat.eqb i j then D else 0) (seq k (length c))) = nth (i - k) c 0 * D.
Proof.
  induction c as [|x c IH]; intros k i H; [destruct (i - k)%nat; reflexivity|].
  cbn [length seq map dot]. destruct (Nat.eqb_spec i k) as [->|E].
  - replace (k - k)%nat with 0%nat by lia. cbn [nth].
    assert (Z : forall c m, (k < m)%nat ->
      dot c (map (fun j => if Nat.eqb k j then D else 0) (seq m (length c))) = 0).
    { clear. induction c as [|y c IH]; intros m H; [reflexivity|]. cbn [length seq map dot].
      destruct (Nat.eqb_spec k m); [lia|]. rewrite IH by lia. lia. }
    rewrite Z by lia. lia.
  - rewrite IH by lia. replace (i - k)%nat with (S (i - S k)) by lia. cbn [nth]. lia.
Qed.

Lemma dot_pairing : forall w c vs,
  (forall n, combination c vs n = 0) -> dot c (map (pairing w) vs) = 0.
Proof.
  induction w as [|[n x] w IH]; intros c vs H.
  - clear H. revert vs. induction c as [|y c IH]; intros [|v vs]; cbn; [reflexivity..|]. rewrite IH. lia.
  - assert (E : dot c (map (pairing ((n, x) :: w)) vs) = x * combination c vs n + dot c (map (pairing w) vs)).
    { clear. revert vs. induction c as [|y c IH]; intros [|v vs]; cbn in *; [lia..|]. rewrite IH. lia. }
    rewrite E, H, IH by exact H. lia.
Qed.

Lemma independent_by : forall (D : Z) (ws vs : list vector), D <> 0 ->
  map (fun w => map (pairing w) vs) ws = diagonal D (length vs) -> independent vs.
Proof.
  intros D ws vs HD E c L H x X. destruct (In_nth c x 0 X) as [i [Hi <-]].
  assert (R : In (map (fun j => if Nat.eqb i j then D else 0) (seq 0 (length vs))) (diagonal D (length vs))).
  { apply (in_map (fun i => map (fun j => if Nat.eqb i j then D else 0) (seq 0 (length vs)))).
    apply in_seq. lia. }
  rewrite <- E in R. apply in_map_iff in R. destruct R as [w [W _]].
  pose proof (dot_pairing w c vs H) as P. rewrite W, <- L, dot_unit in P by lia.
  rewrite Nat.sub_0_r in P. apply Z.mul_eq_0 in P. tauto.
Qed.

Definition pick (numbers : list nat) (vs : list vector) : list vector :=
  flat_map (fun n => match nth_error vs n with Some v => [v] | None => [] end) numbers.

Lemma spans_by : forall (D : Z) (numbers : list nat) (ws vs : list vector) (r : Z), D <> 0 ->
  map (fun w => map (pairing w) (pick numbers vs)) ws = diagonal D (length (pick numbers vs)) ->
  Z.of_nat (length (pick numbers vs)) = r -> spans vs r.
Proof.
  intros D numbers ws vs r HD E L. exists (pick numbers vs). split; [|split; [|exact L]].
  - exact (independent_by D ws _ HD E).
  - intros v H. apply in_flat_map in H. destruct H as [n [_ H]].
    destruct (nth_error vs n) eqn:F; [|contradiction]. destruct H as [<-|[]]. exact (nth_error_In _ _ F).
Qed.

Definition same : forall v w : vector, {v = w} + {v <> w}.
Proof. repeat decide equality. Defined.

Lemma rank_by : forall (D : Z) (ws vs : list vector) (r : Z), D <> 0 ->
  map (fun w => map (pairing w) (nodup same vs)) ws = diagonal D (length (nodup same vs)) ->
  Z.of_nat (length (nodup same vs)) = r -> rank_is vs r.
Proof.
  intros D ws vs r HD E L. exists (nodup same vs). split; [|split; [|exact L]].
  - exact (independent_by D ws _ HD E).
  - intro v. apply nodup_In.
Qed.

(* Equations ------------------------------------------------------------------------------------- *)

(* A sum of terms: a coefficient, and names [c; b; i; k] of coordinates, whose product it multiplies. *)
Definition equation := list (Z * list name).

(* General K, Q and V. The monomial with the exponents e_0, e_1, ... of their entries is written ε^n,
   n = e_0 + 64 e_1 + 64² e_2 + ..., and no other monomial is, if all exponents are less than 64. *)
Definition general (number rows : Z) : matrix :=
  flat_map (fun i => map (fun j =>
    (i, j, Z.pow 64 ((number * (a + o) + i) * (d + 1) + j), 1)) (range d)) (range rows).
Definition general_point : vector := phi (attention (general 0 a) (general 1 a)) (general 2 o).

(* Coordinate n of a point whose coordinates are polynomials in ε. *)
Definition coordinate (y : vector) (n : name) : vector :=
  flat_map (fun '(m, x) =>
    match m with p :: rest => match order n rest with Eq => [([p], x)] | _ => [] end | [] => [] end) y.

Definition times (f g : vector) : vector :=
  collected (flat_map (fun '(m, x) => map (fun '(n, z) => ([hd 0 m + hd 0 n], x * z)) g) f).

(* The equation with φ(KᵀQ, V) put in, multiplied out. *)
Definition put_in (e : equation) : vector :=
  collected (flat_map (fun '(x, names) =>
    fold_right times [([0], x)] (map (coordinate general_point) names)) e).

Definition vanishes (e : equation) : Prop :=
  put_in e = [] /\ forallb (fun term => (length (snd term) <? 64)%nat) e = true.

(* The gradient of an equation at the point y. *)
Fixpoint gradient_of_term (y : vector) (x : Z) (names : list name) : vector :=
  match names with
  | [] => []
  | n :: rest =>
      (n, fold_right (fun m z => value y (0 :: m) * z) x rest)
      :: gradient_of_term y (x * value y (0 :: n)) rest
  end.
Definition gradient (y : vector) (e : equation) : vector :=
  collected (flat_map (fun '(x, names) => gradient_of_term y x names) e).

(* What is said of one orbit ---------------------------------------------------------------------- *)

(* K(ε), Q(ε), V(ε), and φ(KᵀQ, V) without its constant term. *)
Definition arc := (matrix * matrix * matrix * vector)%type.

Record orbit := {
  ranks : list Z;                       (* of V, of A, and of the rows of V with the columns of A *)
  A : matrix;
  V : matrix;
  y : vector;                           (* the point φ(A, V) *)
  second : option (matrix * matrix);    (* another preimage *)
  direction : option (matrix * matrix); (* a direction that the derivative of φ kills *)
  tangent : Z;                          (* so many dimensions are spanned by the coefficients of arcs *)
  arcs : list arc;
  equations : list equation }.

Definition parameters : Z := d * d + o * d.

(* The derivatives of φ at (A, V) along all matrices with one entry 1. *)
Definition derivatives (s : orbit) : list vector :=
  map (fun E => differential (A s) (V s) E []) (units d) ++
  map (fun E => differential (A s) (V s) [] E) (units o).

(* The matrices have at most a rows, or columns, that are not 0; so their combinations have rank ≤ a. *)
Definition thin (matrices : matrix) : Prop :=
  Z.of_nat (Nat.min (length (rows matrices)) (length (columns matrices))) <= a.

Definition starts_at (s : orbit) (arc : arc) : Prop :=
  let '(K, Q, V, moving) := arc in
  phi (attention K Q) V = y s ++ moving /\ fits a K && fits a Q && fits o V = true.

(* The coefficients v_m, ..., v_(2m−1) of an arc p + ε^m v_m + ... *)
Definition tangent_vectors (arc : arc) : list vector :=
  let '(_, _, _, moving) := arc in
  let m := match moving with (p :: _, _) :: _ => p | _ => 0 end in
  map (fun n => coefficient (m + n - 1) moving) (range m).

Record facts (s : orbit) : Prop := {
  sizes : fits d (A s) && fits o (V s) = true;
  rank_V : rank_is (row_forms (V s)) (nth 0 (ranks s) 0);
  rank_A : rank_is (column_forms (A s)) (nth 1 (ranks s) 0);
  rank_both : rank_is (row_forms (V s) ++ column_forms (A s)) (nth 2 (ranks s) 0);
  point : phi (A s) (V s) = y s /\ y s <> [];
  fiber :
    match second s with
    | Some (B, W) => phi B W = y s /\ spans [entries (A s); entries B] 2
    | None => True
    end;
  kernel :
    match direction s with
    | Some (dA, dV) =>
        differential (A s) (V s) dA dV = [] /\ spans [entries (A s); entries dA] 2 /\ thin (A s ++ dA)
    | None => spans (derivatives s) (parameters - 1)
    end;
  expansions : Forall (starts_at s) (arcs s);
  tangent_from_below : spans (flat_map tangent_vectors (arcs s)) (tangent s);
  in_the_ideal : Forall vanishes (equations s);
  tangent_from_above : spans (map (gradient (y s)) (equations s)) (Z.of_nat (length (equations s))) }.

(* Coq's virtual machine computes both sides of an equation. *)
Ltac computed := match goal with |- _ = ?right => vm_cast_no_check (eq_refl right) end.
Ltac each_computed := repeat (apply Forall_cons; [split; computed |]); apply Forall_nil.

(* The closure as a whole ------------------------------------------------------------------------- *)

(* All triples of ranks of pairs with A ≠ 0 and V ≠ 0. *)
Definition all_ranks : list (list Z) :=
  flat_map (fun v => flat_map (fun r => map (fun n => [v; r; n])
    (filter (fun n => Z.max v r <=? n) (range (Z.min d (v + r))))) (range a)) (range (Z.min d o)).

(* The derivatives of (K, Q) ↦ KᵀQ where it is A, of rank a. *)
Definition moves (A : matrix) : list matrix :=
  flat_map (fun k => map (map (fun '(_, j, n, x) => (k, j, n, x))) (rows A)) (range d) ++
  flat_map (fun b => map (map (fun '(i, _, n, x) => (i, b, n, x))) (columns A)) (range d).
Definition velocities (s : orbit) : list vector :=
  map (fun E => differential (A s) (V s) E []) (moves (A s)) ++
  map (fun E => differential (A s) (V s) [] E) (units o).

(* The tangent dimension of the pairs (A, V), rk A ≤ a, modulo scaling; the dimension of the closure. *)
Definition source (r : Z) : Z := o * d + (if r =? a then a * (2 * d - a) else d * d) - 1.
Definition dimension : Z := source a.
Definition ambient : Z := o * d * (d * (d + 1) / 2).

(* What the theorems named at the head make of the facts. *)
Definition preimages (s : orbit) : Z := if second s then 2 else 1.
Definition is_critical (s : orbit) : bool := if direction s then true else false.
Definition reduced (s : orbit) : bool := (preimages s =? 1) && negb (is_critical s).
Definition lower (s : orbit) : Z :=
  Z.max (tangent s) (if reduced s then source (nth 1 (ranks s) 0) else dimension).
Definition upper (s : orbit) : Z :=
  Z.min (ambient - Z.of_nat (length (equations s)))
    (if reduced s then source (nth 1 (ranks s) 0) else ambient).

Definition equal (r s : list Z) : bool := match order r s with Eq => true | _ => false end.
Definition failing (fails : orbit -> bool) (orbits : list orbit) : list (list Z) :=
  map ranks (filter fails orbits).

(* Where the closure is singular against a prediction, or the reverse; nothing if at an orbit this is open.
   At 0 its tangent space is everything. *)
Definition singular (predicted : list Z -> bool) (orbits : list orbit) : option (list (list Z)) :=
  let spaces := ([0; 0; 0], (ambient, ambient)) :: map (fun s => (ranks s, (lower s, upper s))) orbits in
  if forallb (fun '(_, (low, high)) => (dimension <? low) || (high <=? dimension)) spaces
  then Some (map fst (filter (fun '(r, (low, _)) => negb (Bool.eqb (dimension <? low) (predicted r))) spaces))
  else None.

(* Where the claims fail that have integers. *)
Definition by_paper := singular (fun r => (nth 0 r 0 <=? 1) && (nth 1 r 0 <=? 1)).
Definition by_theorem := singular (fun r =>
  let (r_v, r_a) := (nth 0 r 0, nth 1 r 0) in
  if (a =? 1) && (o =? 1) then (r_v =? 0) || ((3 <=? d) && equal r [1; 1; 1])
  else ((r_v =? 0) && (r_a =? 0)) || ((r_v =? 1) && (r_a =? 1)) || ((2 <=? a) && (a <? d) && (r_a <? a))).
Definition tangents (orbits : list orbit) : option (list (list Z)) :=
  let formula r :=
    let inner := if equal r [1; 1; 1] then d * (d + 1) / 2 else 2 * d - 1 in
    if equal r [1; 1; 1] || equal r [1; 1; 2]
    then if 2 <=? a then (d + o - 1) * inner else o * inner + d - 1
    else source (nth 1 r 0) in
  if forallb (fun s => lower s =? upper s) orbits
  then Some (failing (fun s => negb (lower s =? formula (ranks s))) orbits) else None.
Definition critical (orbits : list orbit) := Some (failing (fun s =>
  negb (Bool.eqb (is_critical s) (equal (ranks s) [1; 1; 1]))) orbits).
Definition fibers (orbits : list orbit) := Some (failing (fun s =>
  negb (preimages s =? if equal (ranks s) [1; 1; 2] then 2 else 1)) orbits).
Definition birational (orbits : list orbit) := Some (failing (fun s =>
  negb (preimages s <=? if equal (ranks s) (ranks (last orbits s)) then 1 else 2)) orbits).
Definition closed (orbits : list orbit) := Some (failing (fun s => negb (nonempty (y s))) orbits).
