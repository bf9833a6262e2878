import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';

type Schema = { type: 'string' | 'integer'; format?: string };

const TEXT: Schema = { type: 'string' };
const UUID: Schema = { type: 'string', format: 'uuid' };
const INSTANT: Schema = { type: 'string', format: 'date-time' };
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const nullable = (schema: Schema, description: string) => ApiProperty({ ...orNull(schema), description });
const maybe = (schema: Schema, description: string) => ApiPropertyOptional({ ...orNull(schema), description });

/** Our payment. */
export class EvidenceOurs {
  @ApiProperty({ ...UUID, description: 'Its call.' }) call_id!: string;
  @ApiProperty({ type: 'integer', description: 'Its place in the call, from 0.' }) position!: number;
  @ApiProperty({ ...TEXT, description: "The operation's name." }) operation!: string;
  @ApiProperty({ ...INSTANT, description: 'When it was made.' }) at!: string;
  @nullable(TEXT, 'US dollars, decimal text.') amount_usd!: string | null;
  @ApiProperty({ ...TEXT, description: 'What is on record of its outcome.' }) outcome!: string;
}

/** The upstream's transaction, or the entry of its wallet. */
export class EvidenceTheirs {
  @ApiProperty({ ...UUID, description: 'The reading that named it.' }) read_id!: string;
  @ApiProperty({ type: 'integer', description: 'Its place there, from 0.' }) ordinal!: number;
  @nullable(INSTANT, "When it was made, by the upstream's clock.") at!: string | null;
  @maybe(TEXT, 'The reference the upstream gave; of a transaction.') upstream_ref?: string | null;
  @maybe(TEXT, "The upstream's id of it; of a transaction.") upstream_id?: string | null;
  @maybe(TEXT, "The upstream's id of its batch; of a transaction.") batch_ref?: string | null;
  @maybe(TEXT, "The upstream's word; of a transaction.") status?: string | null;
  @maybe(TEXT, 'US dollars, decimal text; of a transaction.') amount_usd?: string | null;
  @maybe(TEXT, 'Whose entry it is; of an entry of a wallet.') wallet_id?: string | null;
}

export class EvidenceMatch {
  @ApiProperty({ ...TEXT, description: 'By what they were recognised as one payment.', example: 'upstream_ref' })
  rule!: string;
  @ApiProperty({ enum: ['certain', 'probable', 'possible'], description: 'How sure that is.' }) certainty!: string;
}

/** The rows that a finding rests on; they name nobody. */
@ApiExtraModels(EvidenceOurs, EvidenceTheirs, EvidenceMatch)
export class FindingEvidence {
  @ApiProperty({ ...orNull({ $ref: getSchemaPath(EvidenceOurs) }), description: 'Null: there is none of ours.' })
  ours!: EvidenceOurs | null;
  @ApiProperty({ ...orNull({ $ref: getSchemaPath(EvidenceTheirs) }), description: 'Null: the upstream has none.' })
  theirs!: EvidenceTheirs | null;
  @ApiProperty({ ...orNull({ $ref: getSchemaPath(EvidenceMatch) }), description: 'Null: they are no pair.' })
  match!: EvidenceMatch | null;
}
