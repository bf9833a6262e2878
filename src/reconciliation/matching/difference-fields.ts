import { masked, plainWord } from './recipients';

/** The categories of differences about a payment of ours. */
export type FieldCategory =
  | 'status'
  | 'refund'
  | 'reversal'
  | 'amount_over'
  | 'amount_under'
  | 'fee'
  | 'recipient'
  | 'late'
  | 'unrecognised_status'
  | 'missing_upstream';

const usd = (amount: string) => `trim_scale(${amount})::text`;
const field = (name: string, ours: string, theirs: string) =>
  `json_build_object('field', '${name}', 'ours', ${ours}, 'theirs', ${theirs})`;

const AMOUNT = field('amount_usd', usd('o.usd'), usd('t.usd'));
const STATUS = field('status', 'o.outcome', plainWord('t.status'));

/** The differing fields, ours and theirs, in the form of `finding_sight.fields`. People are masked. */
export const CATEGORY_FIELDS: Record<FieldCategory, string> = {
  status: `json_build_array(${STATUS})`,
  refund: `json_build_array(${STATUS})`,
  reversal: `json_build_array(${STATUS})`,
  amount_over: `json_build_array(${AMOUNT})`,
  amount_under: `json_build_array(${AMOUNT})`,
  fee: `json_build_array(${field('fee_usd', usd('j.e'), usd('j.f'))})`,
  recipient: `json_build_array(${field('recipient', masked('o.key'), masked('coalesce(t.email, t.phone, t.handle, t.receiver)'))})`,
  late: `json_build_array(${field('at', 'o.at', 't.at')})`,
  unrecognised_status: `json_build_array(${STATUS})`,
  missing_upstream: `json_build_array(${AMOUNT}, ${STATUS})`,
};
