import { field } from '../../http/validation/rules';

/** A numeric setting. The sandbox checks everything but its range. */
export const Figure = (most: number, schema: { type: 'integer' | 'number'; minimum: number; description: string }) =>
  field(
    {
      required: false,
      must: `must be a ${schema.type === 'integer' ? 'whole number' : 'number'} from ${schema.minimum} to ${most}`,
      test: (value) =>
        typeof value === 'number' &&
        value >= schema.minimum &&
        value <= most &&
        (schema.type === 'number' || Number.isInteger(value)),
    },
    { ...schema, maximum: most },
  );
