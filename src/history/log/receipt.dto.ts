import { ApiProperty } from '@nestjs/swagger';
import { KIND_NAMES } from './kinds';

const HASHES = {
  type: 'array',
  items: { type: 'string' },
  description: 'Hashes, base64, from the leaf up (RFC 9162, section 2.1.3).',
} as const;
const KIND = { enum: KIND_NAMES, description: "The record's table." };
const INDEX = { type: 'integer', minimum: 0, description: 'Of its leaf in the log, from 0.' } as const;
const NOTE = {
  type: 'string',
  description: 'The newest checkpoint: a signed note (c2sp.org/signed-note, c2sp.org/tlog-checkpoint).',
} as const;
const RECORD =
  'The leaf: in canonical form (RFC 8785) these are its bytes. Timestamps, decimal numbers and bytes are text.';

/** What a commitment of a record is made of: SHA-256(salt || value). */
export class Opening {
  @ApiProperty({ type: 'string', example: 'items/0/email_commitment', description: 'Where in the record.' })
  commitment!: string;
  @ApiProperty({ type: 'string', description: 'Hexadecimal.' }) salt!: string;
  @ApiProperty({ type: 'string', description: 'The value, as `encoding` says.' }) value!: string;
  @ApiProperty({ enum: ['utf8', 'base64'], description: 'How `value` is written.' }) encoding!: 'utf8' | 'base64';
}

export class ReceiptRecord {
  @ApiProperty(KIND) kind!: string;
  @ApiProperty(INDEX) index!: number;
  @ApiProperty({ type: 'object', additionalProperties: true, description: RECORD }) record!: Record<string, unknown>;
  @ApiProperty(HASHES) proof!: string[];
  @ApiProperty({
    type: [Opening],
    description:
      'What it commits to, and was not erased; none with `X-People: masked`, nor for an auditor without `audit:pii`.',
  })
  openings!: Opening[];
}

export class ReceiptLog {
  @ApiProperty({ type: 'string', description: "The log's name." }) origin!: string;
  @ApiProperty({ type: 'string', description: "The log's verifier key: `<name>+<id>+<base64>`." }) key!: string;
}

/** A call, provable offline. */
export class Receipt {
  @ApiProperty({ enum: ['payout-proxy/receipt/1'], description: 'What this is.' }) format!: string;
  @ApiProperty({ type: 'string', format: 'uuid', description: "The call's id." }) call_id!: string;
  @ApiProperty({ type: ReceiptLog, description: 'The log that has sealed it.' }) log!: ReceiptLog;
  @ApiProperty(NOTE) checkpoint!: string;
  @ApiProperty({ type: [ReceiptRecord], description: 'Its records, in the order in which they were sealed.' })
  records!: ReceiptRecord[];
}

export class LeafProof {
  @ApiProperty(KIND) kind!: string;
  @ApiProperty(INDEX) index!: number;
  @ApiProperty({ type: 'string', description: 'SHA-256(0x00 || leaf), base64.' }) leaf_hash!: string;
  @ApiProperty({
    anyOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
    description: `${RECORD} Null: it was pruned.`,
  })
  record!: Record<string, unknown> | null;
  @ApiProperty(HASHES) proof!: string[];
}

export class Inclusion {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'The id that was asked for.' }) id!: string;
  @ApiProperty(NOTE) checkpoint!: string;
  @ApiProperty({ type: [LeafProof], description: 'In the order of the log.' }) records!: LeafProof[];
  @ApiProperty({ enum: KIND_NAMES, isArray: true, description: 'Records that are too new: sealed within seconds.' })
  unsealed!: string[];
}

export class Consistency {
  @ApiProperty({ type: 'integer', description: 'Size of the earlier tree.' }) from!: number;
  @ApiProperty({ type: 'integer', description: 'Size of the later tree.' }) to!: number;
  @ApiProperty({ type: [String], description: 'Hashes, base64 (RFC 9162, section 2.1.4).' }) proof!: string[];
}
