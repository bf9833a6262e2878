import { HttpStatusCode, PageSize, PageToken } from '../../http/validation/rules/query-rules';
import { Text } from '../../http/validation/rules/rules';
import { described, INSTANT, INTEGER, SHA256, UUID, nullable, TEXT } from '../../platform/schema/fields';
import { nextPageToken, PageRequest } from '../../platform/schema/page';

export class ShapeSearch implements PageRequest {
  @Text({
    max: 100,
    required: false,
    description: 'Name of the operation.',
    example: 'POST /payouts/airtime',
  })
  operation?: string;

  @HttpStatusCode("HTTP status of the upstream's answers.") http_status?: number;

  @PageSize() page_size?: number;

  @PageToken() page_token?: string;
}

/** Structure of an upstream answer that differs from earlier answers. */
export class ShapeRecord {
  @described(UUID, 'ID of the shape.') id!: string;
  @described({ type: 'string', example: 'POST /payouts/airtime' }, 'Name of the operation.')
  operation!: string;
  @described(INTEGER, "HTTP status of the upstream's answer.") http_status!: number;
  @described(SHA256, 'SHA-256 of `shape` as JSON, without spaces and with sorted keys.') fingerprint!: string;
  @described(
    { type: 'object', additionalProperties: true },
    'A JSON Schema (draft 2020-12) of the answer, without values. `type` may also be `not JSON` or `no ' +
      'body`. Keys that may be data are omitted. `additionalProperties` describes their values.',
  )
  shape!: unknown;
  @described(INSTANT, "Time of the first observation, by the database's clock.") first_seen_at!: Date;
  @described(UUID, 'The first call with this answer.') first_call_id!: string;
}

export class ShapePage {
  @described({ type: [ShapeRecord] }, 'Newest first.') shapes!: ShapeRecord[];
  @nextPageToken() next_page_token!: string | null;
}

/** A status word of the upstream without a known meaning. */
class StatusWordRecord {
  @described({ type: 'string', example: 'settled_t2' }, 'The word in lower case, with contacts masked.')
  word!: string;
  @described(INTEGER, 'Number of reads in answers, listings and events. Each read of a listing counts.')
  times!: number;
  @nullable(UUID, 'A call with the word in its answer. Null if only listings or events have it.')
  call_id!: string | null;
  @nullable(TEXT, "The upstream's reference of a transaction with the word.") upstream_ref!: string | null;
  @described(INSTANT, "Time of the first reading, by the database's clock.") first_seen_at!: Date;
  @described(INSTANT, "Time of the last reading, by the database's clock.") last_seen_at!: Date;
}

export class StatusWordList {
  @described({ type: [StatusWordRecord] }, 'The most frequent first. At most 200.')
  words!: StatusWordRecord[];
}
