/**
 * The rules that match by identifiers: upstream_ref, upstream_id, batch_ref, reference. Each rule works on the rows
 * that earlier rules left, as sets, and fills `found`.
 */

/** The order in which our rows that look alike get a partner. Payments with moved money come first. */
const OURS_FIRST = 'tier, at, call_id, position';
const THEIRS_FIRST = "word = 'not', at NULLS LAST, n";

/**
 * Matches rows with the same identifier. `candidate` has the possible pairs, and with a FULL JOIN also the rows whose
 * identifier the other side lacks.
 * @param from the tables to read, and the one to fill: first all rows, later those without a partner.
 */
export function bySameName(rule: 'upstream_ref' | 'upstream_id', { ours, theirs, join, into }: Sides): string {
  const inOrder = (side: 'o' | 't', table: string, order: string) => `(
    SELECT n, ${rule} AS name, row_number() OVER (PARTITION BY ${rule} ORDER BY ${order}) AS place
    FROM ${table} WHERE n IN (SELECT ${side} FROM twice))`;
  // To sort a million numbers takes half as long as to count each.
  const repeated = (side: 'o' | 't') =>
    `SELECT ${side} FROM (SELECT ${side}, lag(${side}) OVER (ORDER BY ${side}) AS before FROM candidate) AS s WHERE ${side} = before`;
  return `
    DROP TABLE IF EXISTS candidate, twice;
    CREATE TEMP TABLE candidate AS SELECT o.n AS o, t.n AS t
    FROM (SELECT * FROM ${ours} WHERE ${rule} IS NOT NULL) AS o ${join} (SELECT * FROM ${theirs} WHERE ${rule} IS NOT NULL) AS t USING (${rule});
    -- Identifiers that several rows of a side share. There should be none, so they are handled apart.
    CREATE TEMP TABLE twice AS SELECT o, t FROM candidate WHERE o IN (${repeated('o')}) OR t IN (${repeated('t')});
    INSERT INTO pg_temp.${into}
    SELECT o, t, '${rule}', 'certain' FROM candidate WHERE o IS NOT NULL AND t IS NOT NULL AND o NOT IN (SELECT o FROM twice);
    INSERT INTO pg_temp.${into}
    SELECT o.n, t.n, '${rule}', 'certain'
    FROM ${inOrder('o', ours, OURS_FIRST)} AS o JOIN ${inOrder('t', theirs, THEIRS_FIRST)} AS t USING (name, place)`;
}

interface Sides {
  ours: string;
  theirs: string;
  join: 'JOIN' | 'FULL JOIN';
  into: 'pair' | 'found';
}

export const EVERYTHING: Sides = { ours: 'ours', theirs: 'theirs', join: 'FULL JOIN', into: 'pair' };
export const LEFT: Sides = { ours: 'left_ours', theirs: 'left_theirs', join: 'JOIN', into: 'found' };

interface Ranked {
  rule: 'batch_ref' | 'reference';
  /** The columns of each side that must be equal. Rows with null in one of them take no part. */
  ours: { from: string; equal: string[] };
  theirs: { from: string; equal: string[] };
  /** The certainty if there is one row on each side, and if several could change places. */
  certainty: { single: string; several: string };
  /** Whether to match only if there is one row on each side. */
  singleOnly?: boolean;
}

/** Pairs equal rows in the order of time, so that as many as possible get a partner. */
function byRank({ rule, ours, theirs, certainty, singleOnly }: Ranked): string {
  const names = ours.equal.map((_, place) => `g${place}`);
  const ranked = ({ from, equal }: Ranked['ours'], order: string, extra: string) => `(
    SELECT n, ${extra} ${names.join(', ')}, row_number() OVER same AS place, count(*) OVER (PARTITION BY ${names.join(', ')}) AS many
    FROM (SELECT s.*, ${equal.map((column, place) => `${column} AS ${names[place]}`).join(', ')} FROM ${from} AS s) AS s
    WHERE ${names.map((name) => `${name} IS NOT NULL`).join(' AND ')}
    WINDOW same AS (PARTITION BY ${names.join(', ')} ORDER BY ${order}))`;
  const single = 'o.many = 1 AND t.many = 1';
  return `
    INSERT INTO pg_temp.found
    SELECT o.n, t.n, '${rule}', CASE WHEN ${single} THEN ${certainty.single} ELSE '${certainty.several}' END
    FROM ${ranked(ours, OURS_FIRST, 'key,')} AS o
    JOIN ${ranked(theirs, THEIRS_FIRST, 'email, phone, handle, receiver,')} AS t USING (${names.join(', ')}, place)
    ${singleOnly ? `WHERE ${single}` : ''}`;
}

/** `of_call`: the transactions that the answer to one call names, if it does not say for which payment. */
export const MAKE_OF_CALL = `
  DROP TABLE IF EXISTS of_call;
  -- Transactions that two calls name are left to later rules, because their owner is unclear.
  CREATE TEMP TABLE of_call AS
  SELECT n, min(call_id::text)::uuid AS of_call
  FROM (
    SELECT t.n, x.call_id FROM left_theirs t JOIN left_name x ON x.batch_ref = t.batch_ref
    UNION SELECT t.n, x.call_id FROM left_theirs t JOIN left_name x ON x.upstream_ref = t.upstream_ref
    UNION SELECT t.n, x.call_id FROM left_theirs t JOIN left_name x ON x.upstream_id = t.upstream_id
  ) AS named GROUP BY n HAVING count(*) = 1;
  ANALYZE of_call`;

const NAMED = '(SELECT * FROM left_theirs JOIN of_call USING (n))';

const sameBatch = (ours: string[], theirs: string[], more: Partial<Ranked> = {}) =>
  byRank({
    rule: 'batch_ref',
    ours: { from: '(SELECT * FROM left_ours)', equal: ['call_id', ...ours] },
    theirs: { from: NAMED, equal: ['of_call', ...theirs] },
    certainty: { single: "'certain'", several: 'probable' },
    ...more,
  });

/** The same recipient and amount, then the same amount for erased people, then a single row left on each side. */
export const BY_BATCH = [
  sameBatch(['key', 'usd'], ['key', 'usd']),
  sameBatch(['usd', "CASE WHEN key IS NULL THEN 'erased' END"], ['usd', "'erased'"]),
  sameBatch([], [], { singleOnly: true }),
];

const SAME_RECIPIENT = 'o.key IN (t.email, t.phone, t.handle, t.receiver)';

const reference = (equal: string[], more: Partial<Ranked> = {}) =>
  byRank({
    rule: 'reference',
    ours: { from: '(SELECT * FROM left_ours)', equal: ['reference', ...equal] },
    theirs: { from: '(SELECT * FROM left_theirs)', equal: ['reference', ...equal] },
    certainty: { single: `CASE WHEN ${SAME_RECIPIENT} THEN 'certain' ELSE 'probable' END`, several: 'possible' },
    ...more,
  });

/**
 * First, a reference that only one row of each side has. If several have it, it proves little, and the other fields
 * decide. Rows with different recipients and amounts are not matched.
 */
export const BY_REFERENCE = [
  reference([], { singleOnly: true }),
  reference(['key', 'usd']),
  reference(['usd'], { certainty: { single: "'possible'", several: 'possible' } }),
  reference(['key'], { certainty: { single: "'probable'", several: 'possible' } }),
];
