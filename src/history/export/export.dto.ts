import { field } from '../../http/validation/rules';
import { Listed } from '../search/cursor';
import { SearchFilters } from '../search/search.dto';

const LISTED: readonly Listed[] = ['calls', 'items'];

export const FORMATS = ['csv', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

export class ExportSearch extends SearchFilters {
  @field(
    {
      required: true,
      must: `must be one of ${FORMATS.join(', ')}`,
      test: (value) => FORMATS.some((format) => format === value),
    },
    { enum: [...FORMATS], description: '`csv` (RFC 4180) or `ndjson` (one JSON object per line).' },
  )
  format!: Format;

  @field(
    {
      required: false,
      must: `must be one of ${LISTED.join(', ')}`,
      test: (value) => LISTED.some((what) => what === value),
    },
    { enum: [...LISTED], default: 'calls', description: 'What each row is: a call or a payout.' },
  )
  what?: Listed;
}
