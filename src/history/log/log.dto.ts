import { applyDecorators } from '@nestjs/common';
import { field, ReadAs } from '../../http/validation/rules';
import { Uuid } from '../../http/validation/query-rules';

/** How many leaves a tree has. */
const TreeSize = (description: string) =>
  applyDecorators(
    ReadAs((value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value)),
    field(
      {
        name: 'treeSize',
        required: true,
        must: 'must be the size of a checkpoint: a whole number',
        test: (value) => typeof value === 'number',
      },
      { type: 'integer', minimum: 0, description },
    ),
  );

export class ProofSearch {
  @Uuid("A call's id: all its records are proved.")
  call?: string;

  @Uuid('The id of another record: a stop, an access, an erasure, a pruning.')
  record?: string;
}

export class ConsistencySearch {
  @TreeSize('Size of the earlier checkpoint.')
  from!: number;

  @TreeSize('Size of the later checkpoint.')
  to!: number;
}
