import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Uuid } from '../../http/validation/rules/query-rules';
import { field, ReadAs } from '../../http/validation/rules/rules';
import { described, INTEGER, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { KIND_NAMES, KindName } from './kinds';

/** Number of leaves of a tree. */
const TreeSize = (description: string) =>
  applyDecorators(
    ReadAs((value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value)),
    field(
      {
        required: true,
        must: 'must be the size of a checkpoint: a whole number',
        test: (value) => typeof value === 'number',
      },
      { type: 'integer', minimum: 0, description },
    ),
  );

export class ProofSearch {
  @Uuid('ID of a call. All its records are proved.') call?: string;

  @Uuid('ID of another record: a stop, an access, an erasure, or a pruning.') record?: string;
}

export class ConsistencySearch {
  @TreeSize('Size of the earlier checkpoint.') from!: number;

  @TreeSize('Size of the later checkpoint.') to!: number;
}

const HASHES = {
  type: 'array',
  items: { type: 'string' },
  description: 'Inclusion proof: base64 hashes from the leaf up (RFC 9162, section 2.1.3).',
} as const;
const KIND = { enum: KIND_NAMES, description: 'Table of the record.' };
const INDEX = { type: 'integer', minimum: 0, description: 'Index of the leaf in the log, from 0.' } as const;
const NOTE = {
  type: 'string',
  description: 'The newest checkpoint: a signed note (c2sp.org/signed-note, c2sp.org/tlog-checkpoint).',
} as const;
const RECORD = 'The leaf. Its canonical form (RFC 8785) is hashed. Timestamps, decimals, and bytes are text.';

/** Salt and value of a commitment in a record: SHA-256(salt || value). */
export class Opening {
  @described({ type: 'string', example: 'recipients/0/email_commitment' }, 'Path in the record.')
  commitment!: string;
  @described(TEXT, 'Salt, hexadecimal.') salt!: string;
  @described(TEXT, 'The value, in `encoding`.') value!: string;
  @described({ enum: ['utf8', 'base64'] }, 'Encoding of `value`.') encoding!: 'utf8' | 'base64';
}

export class ReceiptRecord {
  @ApiProperty(KIND) kind!: string;
  @ApiProperty(INDEX) index!: number;
  @described({ type: 'object', additionalProperties: true }, RECORD) record!: Record<string, unknown>;
  @ApiProperty(HASHES) proof!: string[];
  @described(
    { type: [Opening] },
    'The committed values, except erased ones. Empty with `X-People: masked` or without `audit:pii`.',
  )
  openings!: Opening[];
}

class ReceiptLog {
  @described(TEXT, 'Name of the log.') origin!: string;
  @described(TEXT, 'Verifier key of the log: `<name>+<id>+<base64>`.') key!: string;
}

/** A proof of one call that can be verified offline. */
export class Receipt {
  @described({ enum: ['payout-proxy/receipt/1'] }, 'Format and version.') format!: string;
  @described(UUID, 'ID of the call.') call_id!: string;
  @described({ type: ReceiptLog }, 'The log that sealed the records.') log!: ReceiptLog;
  @ApiProperty(NOTE) checkpoint!: string;
  @described({ type: [ReceiptRecord] }, 'Records of the call, in the order of sealing.')
  records!: ReceiptRecord[];
}

export class LeafProof {
  @ApiProperty(KIND) kind!: KindName;
  @ApiProperty(INDEX) index!: number;
  @described(TEXT, 'SHA-256(0x00 || leaf), base64.') leaf_hash!: string;
  @nullable({ type: 'object', additionalProperties: true }, `${RECORD} Null if it was pruned.`)
  record!: Record<string, unknown> | null;
  @ApiProperty(HASHES) proof!: string[];
}

export class Inclusion {
  @described(UUID, 'ID of the call or record.') id!: string;
  @ApiProperty(NOTE) checkpoint!: string;
  @described({ type: [LeafProof] }, 'The records, in the order of the log.') records!: LeafProof[];
  @described({ enum: KIND_NAMES, isArray: true }, 'Records that are not sealed yet. Sealing takes seconds.')
  unsealed!: string[];
}

export class Consistency {
  @described(INTEGER, 'Size of the earlier tree.') from!: number;
  @described(INTEGER, 'Size of the later tree.') to!: number;
  @described({ type: [String] }, 'Base64 hashes (RFC 9162, section 2.1.4).') proof!: string[];
}
