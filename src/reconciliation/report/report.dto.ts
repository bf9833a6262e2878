import { ApiProperty } from '@nestjs/swagger';
import { OneOf } from '../../http/validation/query-rules';
import { AGES } from '../findings/ageing';
import { FindingEvidence } from '../findings/evidence.dto';
import { DELIMITERS, FindingRecord, STATES } from '../findings/findings.dto';
import { RunRecord } from '../runs/runs.dto';

const REPORT_FORMATS = ['json', 'csv', 'html'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

export class ReportSearch {
  @OneOf(REPORT_FORMATS, '`html` is one page with charts, that prints well. Without it, `json`.')
  format?: ReportFormat;

  @OneOf(['all', 'none'], 'Of JSON; `none`: it has the sums, and only counts its findings. Else `all`.')
  findings?: 'all' | 'none';

  @OneOf(Object.keys(DELIMITERS), 'Of CSV, between cells. Else `comma`.')
  delimiter?: keyof typeof DELIMITERS;
}

const nullable = (schema: object, description: string) =>
  ApiProperty({ anyOf: [schema, { type: 'null' }], description });
const usd = (description: string) => ApiProperty({ type: 'string', pattern: '^-?\\d+(\\.\\d+)?$', description });
const INSTANT = { type: 'string', format: 'date-time' } as const;
const TEXT = { type: 'string' } as const;
const COUNT = { type: 'integer' } as const;

/** What a run compared our records with. */
export class ReportSource {
  @ApiProperty({ ...TEXT, format: 'uuid', description: 'The id of the reading.' }) read_id!: string;
  @ApiProperty({
    enum: ['transactions', 'statement'],
    description: '`transactions`: the upstream was asked. `statement`: a file.',
  })
  source!: string;
  @nullable(TEXT, "The statement's name.") subject!: string | null;
  @ApiProperty({ ...INSTANT, description: 'When it was asked for.' }) read_at!: Date;
  @nullable(INSTANT, 'When it had come whole.') ended_at!: Date | null;
  @nullable(COUNT, 'How many transactions it named.') rows!: number | null;
  @nullable(TEXT, 'SHA-256 of its bytes, hexadecimal.') sha256!: string | null;
}

/** `upstream_usd` − `ours_usd` = `difference_usd` = `findings_usd` + `within_tolerance_usd` + `residual_usd`, exactly. */
export class ReportEquation {
  @usd("What the upstream's transactions add up to, in US dollars.") upstream_usd!: string;
  @usd('What our payments add up to.') ours_usd!: string;
  @usd('The difference of the two.') difference_usd!: string;
  @usd('What the findings add up to.') findings_usd!: string;
  @usd('What differences too small to be findings add up to.') within_tolerance_usd!: string;
  @usd('What nothing explains: zero, or the comparison itself is wrong.') residual_usd!: string;
}

export class ReportAge {
  @ApiProperty({ enum: AGES.map(({ name }) => name), description: 'For how many days.' }) days!: string;
  @ApiProperty({ ...COUNT, description: 'How many findings have waited so long.' }) count!: number;
  @usd('What they are about, without signs, in US dollars.') usd!: string;
}

export class ReportFinding extends FindingRecord {
  @ApiProperty({ type: 'string', description: 'What was seen, for people.' }) meaning!: string;
  @ApiProperty({ type: FindingEvidence, description: 'The rows it rests on.' }) evidence!: FindingEvidence;
}

/** All that a run found. */
export class Report {
  @ApiProperty({ ...INSTANT, description: 'When this was written: states and ages are of now.' }) written_at!: Date;
  @ApiProperty({ type: RunRecord, description: 'The run, with its settings and totals.' }) run!: RunRecord;
  @nullable({ $ref: '#/components/schemas/ReportSource' }, 'What it compared with.') source!: ReportSource | null;
  @nullable({ $ref: '#/components/schemas/ReportEquation' }, 'Null where the run has no result.')
  equation!: ReportEquation | null;
  @ApiProperty({
    type: 'object',
    properties: Object.fromEntries(STATES.map((state) => [state, COUNT])),
    description: 'How many of its findings are in which state now; of those that there are.',
  })
  states!: Record<string, number>;
  @ApiProperty({ type: [ReportAge], description: 'Of all findings that wait now, of whichever run.' })
  ageing!: ReportAge[];
  @ApiProperty({ type: [ReportFinding], description: 'As this run saw them; none, if they were not asked for.' })
  findings!: ReportFinding[];
  @ApiProperty({ ...COUNT, description: 'How many there are; it comes last, and only if the report came whole.' })
  finding_count!: number;
}

/** All of a report but its findings, which are too many to hold. */
export type ReportHead = Omit<Report, 'findings' | 'finding_count'>;
