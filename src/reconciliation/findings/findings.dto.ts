import { ApiExtraModels } from '@nestjs/swagger';
import { DelimiterName, DELIMITERS } from '../../http/answers/csv';
import {
  Account,
  Instant,
  OneOf,
  PageSize,
  PageToken,
  Uuid,
  WholeNumber,
} from '../../http/validation/rules/query-rules';
import { PayoutState, PAYOUT_STATES } from '../../operations/lifecycle/entries';
import {
  described,
  INSTANT,
  INTEGER,
  nullable,
  optional,
  orNull,
  TEXT,
  UUID,
  BOOLEAN,
  ref,
  SIGNED_USD,
} from '../../platform/schema/fields';
import { nextPageToken, PageRequest } from '../../platform/schema/page';
import { Category, CATEGORY_NAMES, SEVERITIES, Severity } from './categories';

/** Our payment. */
class EvidenceOurs {
  @described(UUID, "The call's ID.") call_id!: string;
  @described(INTEGER, "The payment's position in the call, from 0.") position!: number;
  @described(TEXT, "The operation's name.") operation!: string;
  @described(INSTANT, 'Time of the call.') at!: string;
  @nullable(TEXT, 'Amount in US dollars, decimal text.') amount_usd!: string | null;
  @described(TEXT, 'The recorded outcome of the call.') outcome!: string;
  @optional({ enum: [...PAYOUT_STATES] }, 'The recorded state of the payment.') state?: PayoutState;
}

/** The upstream's transaction or wallet entry. */
class EvidenceTheirs {
  @described(UUID, 'The ID of the reading that lists it.') read_id!: string;
  @described(INTEGER, 'Its position in the reading, from 0.') ordinal!: number;
  @nullable(INSTANT, "Its time, by the upstream's clock.") at!: string | null;
  @optional(orNull(TEXT), "The upstream's reference, of a transaction.") upstream_ref?: string | null;
  @optional(orNull(TEXT), "The upstream's ID, of a transaction.") upstream_id?: string | null;
  @optional(orNull(TEXT), "The upstream's ID of the batch, of a transaction.") batch_ref?: string | null;
  @optional(orNull(TEXT), "The upstream's status, of a transaction.") status?: string | null;
  @optional(orNull(TEXT), 'Amount in US dollars, decimal text, of a transaction.') amount_usd?: string | null;
  @optional(orNull(TEXT), 'The wallet, of a wallet entry.') wallet_id?: string | null;
}

class EvidenceMatch {
  @described({ ...TEXT, example: 'upstream_ref' }, 'The rule that matched the two.') rule!: string;
  @described({ enum: ['certain', 'probable', 'possible'] }, 'Certainty of the match.') certainty!: string;
}

/** The transaction that a duplicate repeats, or the payment that a refund or a reversal gives back. */
class EvidenceTwin {
  @nullable(UUID, 'The ID of its call. Null if our records have none.') call_id!: string | null;
  @nullable(INTEGER, 'The position of its payment in the call, from 0.') position!: number | null;
  @nullable(TEXT, "The upstream's reference.") upstream_ref!: string | null;
  @nullable(TEXT, "The upstream's ID.") upstream_id!: string | null;
  @nullable(TEXT, "The upstream's ID of the batch.") batch_ref!: string | null;
  @nullable(INSTANT, "Its time, by the upstream's clock.") at!: string | null;
  @described(UUID, 'The ID of the reading that lists it.') read_id!: string;
  @described(INTEGER, 'Its position in the reading, from 0.') ordinal!: number;
}

/** Records that support a finding. They identify no person. */
@ApiExtraModels(EvidenceOurs, EvidenceTheirs, EvidenceMatch, EvidenceTwin)
export class FindingEvidence {
  @nullable(EvidenceOurs, 'Null if our records have no payment for it.') ours!: EvidenceOurs | null;
  @nullable(EvidenceTheirs, 'Null if the upstream lists no transaction for it.')
  theirs!: EvidenceTheirs | null;
  @nullable(EvidenceMatch, 'Null if the two are not matched.') match!: EvidenceMatch | null;
  @optional(
    orNull(ref('EvidenceTwin')),
    'Null if there is none. Only of transactions without a payment of ours.',
  )
  twin?: EvidenceTwin | null;
}

export const STATES = ['open', 'explained', 'resolved', 'accepted', 'reopened'] as const;
export type State = (typeof STATES)[number];

export class FindingSelection {
  @Account('Only findings of this upstream account.') account?: string;

  @OneOf(
    [...STATES, 'any'],
    'The state: the latest decision. Default: `open` and `reopened`, which await a decision.',
  )
  state?: State | 'any';

  @OneOf(CATEGORY_NAMES, 'Category of the difference.') category?: Category;

  @OneOf(SEVERITIES, 'Severity. It follows from the category.') severity?: Severity;

  @Uuid('The ID of a run that observed the finding.') run_id?: string;

  @Uuid('The ID of the call that the finding is about.') call_id?: string;

  @Instant('Payments made at this time or later.') from?: string;

  @Instant('Payments made before this time.') to?: string;

  @WholeNumber({ min: 0, max: 36_500, description: 'Found at least this many days ago.', example: 7 })
  min_age_days?: number;

  @WholeNumber({ min: 0, max: 36_500, description: 'Found at most this many whole days ago.', example: 30 })
  max_age_days?: number;
}

export class FindingSearch extends FindingSelection implements PageRequest {
  @PageSize() page_size?: number;

  @PageToken() page_token?: string;
}

export class FindingsCsvSearch extends FindingSelection {
  @OneOf(
    Object.keys(DELIMITERS),
    'Delimiter between cells. Default: `comma`. Spreadsheets with decimal commas need `semicolon`.',
  )
  delimiter?: DelimiterName;
}

/** A field whose value differs between our records and the upstream's. */
export class FindingField {
  @described({ ...TEXT, example: 'amount_usd' }, "The field's name.") field!: string;
  @nullable(TEXT, 'Our recorded value. Null if there is none. People are masked.') ours!: string | null;
  @nullable(TEXT, "The upstream's value. Null if there is none. People are masked.") theirs!: string | null;
}

/** A decision about a finding. */
export class FindingStep {
  @described(UUID, "The decision's ID.") id!: string;
  @described({ enum: STATES.slice(1) }, "The finding's state after the decision.") state!: State;
  @described(TEXT, 'Reason.') reason!: string;
  @described(SIGNED_USD, "The finding's impact at the time of the decision, in US dollars.")
  impact_usd!: string;
  @nullable(UUID, 'The run that made the decision. Null if no run made it.') run_id!: string | null;
  @nullable(UUID, 'The ID of the client that made the decision.') client_id!: string | null;
  @nullable(UUID, 'The ID of its key.') key_id!: string | null;
  @nullable(TEXT, 'The person, where known.') actor!: string | null;
  @described(INSTANT, "Time of the decision, by the database's clock.") decided_at!: Date;
}

/** A difference between our history and the upstream's. */
export class FindingRecord {
  @described(UUID, "The finding's ID.") id!: string;
  @described(TEXT, 'The upstream account.') account!: string;
  @described({ enum: CATEGORY_NAMES, enumName: 'FindingCategory' }, 'Category of the difference.')
  category!: Category;
  @described({ enum: [...SEVERITIES] }, 'Severity. It follows from the category.') severity!: Severity;
  @described(TEXT, 'A readable title.') title!: string;
  @described(TEXT, 'Advice: what to do, and what not to do.') suggested_action!: string;
  @described(TEXT, 'Identifies the difference. It is the same in every run.') subject!: string;
  @described({ enum: STATES, enumName: 'FindingState' }, 'The state: the latest decision.') state!: State;
  @described(
    SIGNED_USD,
    "The impact: how much it adds to the upstream's total minus ours, in US dollars. Exact decimal text.",
  )
  impact_usd!: string;
  @described({ type: [FindingField] }, 'The fields that differ.') fields!: FindingField[];
  @described(INSTANT, 'Time of the payment.') occurred_at!: Date;
  @described(INSTANT, 'Time of its first observation.') found_at!: Date;
  @nullable(INTEGER, 'Whole days since it was found, while it awaits a decision. Otherwise null.')
  age_days!: number | null;
  @nullable(UUID, 'The ID of the call. Null if our records have none.') call_id!: string | null;
  @nullable(INTEGER, "The payment's position in the call, from 0.") position!: number | null;
  @nullable(TEXT, "The upstream's reference.") upstream_ref!: string | null;
  @nullable(TEXT, "The upstream's ID of the transaction.") upstream_id!: string | null;
  @nullable(TEXT, "The upstream's ID of the batch.") batch_ref!: string | null;
  @nullable(TEXT, 'The wallet.') wallet_id!: string | null;
  @described(UUID, 'The ID of the run that found it.') found_by!: string;
  @described(UUID, 'The ID of the run that observed it last.') seen_by!: string;
  @described(INSTANT, 'Time of its last observation.') seen_at!: Date;
  @nullable(ref('FindingStep'), 'The latest decision. Null if there is none.') last_step!: FindingStep | null;
  @described(
    TEXT,
    'Changes with each decision and each change of the impact. Send it with a decision about this version.',
  )
  version!: string;
}

export class FindingPage {
  @described({ type: [FindingRecord] }, 'Newest first.') findings!: FindingRecord[];
  @nextPageToken() next_page_token!: string | null;
}

/** A finding as one run observed it. */
export class FindingSight {
  @described(UUID, "The run's ID.") run_id!: string;
  @described(INSTANT, 'Time of the observation.') seen_at!: Date;
  @described(BOOLEAN, 'Whether the run was historical. Such a run changes no states.') historical!: boolean;
  @described(SIGNED_USD, 'Its impact in this run, in US dollars.') impact_usd!: string;
  @described({ type: [FindingField] }, 'The fields that differed.') fields!: FindingField[];
  @described({ type: FindingEvidence }, 'The supporting records.') evidence!: FindingEvidence;
}

export class FindingTimeline extends FindingRecord {
  @described(TEXT, 'Describes the difference.') meaning!: string;
  @described({ type: FindingEvidence }, 'The supporting records of its last observation.')
  evidence!: FindingEvidence;
  @described({ type: [FindingSight] }, 'The finding as each run observed it, for the newest 100 runs.')
  sights!: FindingSight[];
  @described(INTEGER, 'The number of runs that observed it.') sight_count!: number;
  @described({ type: [FindingStep] }, 'The decisions, oldest first.') steps!: FindingStep[];
}
