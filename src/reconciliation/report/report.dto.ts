import { PayoutSums } from '../../history/search/summary.dto';
import { DelimiterName, DELIMITERS } from '../../http/answers/csv';
import { OneOf } from '../../http/validation/rules/query-rules';
import {
  COUNT,
  described,
  INSTANT,
  INTEGER,
  nullable,
  ref,
  SIGNED_USD,
  TEXT,
  UUID,
} from '../../platform/schema/fields';
import { AGES } from '../findings/ageing';
import { FindingEvidence, FindingRecord, STATES } from '../findings/findings.dto';
import { RunRecord } from '../runs/runs.dto';

const REPORT_FORMATS = ['json', 'csv', 'html'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

export class ReportSearch {
  @OneOf(REPORT_FORMATS, 'Format. Default: `json`. `html` is one page with charts, made for printing.')
  format?: ReportFormat;

  @OneOf(['all', 'none'], 'For JSON. `none` leaves out the findings and keeps their sums. Default: `all`.')
  findings?: 'all' | 'none';

  @OneOf(Object.keys(DELIMITERS), 'For CSV: the delimiter between cells. Default: `comma`.')
  delimiter?: DelimiterName;
}

/** The source that a run compared our records with. */
export class ReportSource {
  @described(UUID, "The reading's ID.") read_id!: string;
  @described(
    { enum: ['transactions', 'statement'] },
    "`transactions`: the upstream's listing. `statement`: an imported file.",
  )
  source!: string;
  @nullable(TEXT, "The statement's name.") subject!: string | null;
  @described(INSTANT, 'Time of the request.') read_at!: Date;
  @nullable(INSTANT, 'Time when it was complete.') ended_at!: Date | null;
  @nullable(INTEGER, 'The number of transactions.') rows!: number | null;
  @nullable(TEXT, 'SHA-256 of the bytes, in hex.') sha256!: string | null;
}

/** `upstream_usd` − `ours_usd` = `difference_usd`, and = the sum of the other three, exactly. */
export class ReportEquation {
  @described(SIGNED_USD, "Total of the upstream's transactions, in US dollars.") upstream_usd!: string;
  @described(SIGNED_USD, 'Total of our payments.') ours_usd!: string;
  @described(SIGNED_USD, 'The difference between the two.') difference_usd!: string;
  @described(SIGNED_USD, 'Total of the findings.') findings_usd!: string;
  @described(SIGNED_USD, 'Total of the differences within tolerance.') within_tolerance_usd!: string;
  @described(SIGNED_USD, 'Unexplained rest. It must be zero. Otherwise the comparison itself is wrong.')
  residual_usd!: string;
}

export class ReportAge {
  @described({ enum: AGES.map(({ name }) => name) }, 'Age in days.') days!: string;
  @described(INTEGER, 'The number of findings of this age that wait for a decision.') count!: number;
  @described(SIGNED_USD, 'Their total without signs, in US dollars.') usd!: string;
}

export class ReportFinding extends FindingRecord {
  @described(TEXT, 'Describes the difference.') meaning!: string;
  @described({ type: FindingEvidence }, 'The supporting records.') evidence!: FindingEvidence;
}

/** The report of a run. */
export class Report {
  @described(INSTANT, 'Time of the report. The sums of payouts, states and ages are as of this time.')
  written_at!: Date;
  @described({ type: RunRecord }, 'The run, with its settings and totals.') run!: RunRecord;
  @nullable(ref('ReportSource'), 'The source that it compared with.') source!: ReportSource | null;
  @nullable(ref('ReportEquation'), 'Null if the run has no result.') equation!: ReportEquation | null;
  @described(
    { type: PayoutSums },
    'Sums of the payouts that clients of the account requested in the period, as of `written_at`. They ' +
      'equal those of `GET /v1/audit/summary`. `equation` counts a payout in the period in which it was ' +
      'sent, so a payout that waited for an approval may count there in a later one.',
  )
  payouts!: PayoutSums;
  @described(
    { type: 'object', properties: Object.fromEntries(STATES.map((state) => [state, COUNT])) },
    'The number of its findings in each current state. States without findings are left out.',
  )
  states!: Record<string, number>;
  @described(
    { type: [ReportAge] },
    'The ages of all findings of the account that wait for a decision, of any run.',
  )
  ageing!: ReportAge[];
  @described(
    { type: [ReportFinding] },
    'The findings as this run saw them. Empty if you did not ask for them.',
  )
  findings!: ReportFinding[];
  @described(
    INTEGER,
    'The number of findings. It is the last field, so it is present only in a complete report.',
  )
  finding_count!: number;
}

/** A report without its findings, which are too many to hold in memory. */
export type ReportHead = Omit<Report, 'findings' | 'finding_count'>;
