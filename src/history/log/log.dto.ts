import { applyDecorators } from '@nestjs/common';
import { field, ReadAs } from '../../http/validation/rules';
import { Uuid } from '../../http/validation/query-rules';

/** The number of leaves of a tree. */
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
  @Uuid('ID of a call. All its records are proved.')
  call?: string;

  @Uuid('ID of another record: a stop, an access, an erasure, or a pruning.')
  record?: string;
}

export class ConsistencySearch {
  @TreeSize('Size of the earlier checkpoint.')
  from!: number;

  @TreeSize('Size of the later checkpoint.')
  to!: number;
}
