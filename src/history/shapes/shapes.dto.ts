import { ApiProperty } from '@nestjs/swagger';
import { HttpStatusCode, PageSize, PageToken } from '../../http/validation/query-rules';
import { Text } from '../../http/validation/rules';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../records/page';

export class ShapeSearch implements PageRequest {
  @Text({ max: 100, required: false, description: "The operation's name.", example: 'POST /payouts/airtime' })
  operation?: string;

  @HttpStatusCode("The HTTP status of the upstream's answers.")
  http_status?: number;

  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

/** A structure in which the upstream answered, with something that its earlier answers did not have. */
export class ShapeRecord {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'Its id.' }) id!: string;
  @ApiProperty({ type: 'string', description: "The operation's name.", example: 'POST /payouts/airtime' })
  operation!: string;
  @ApiProperty({ type: 'integer', description: "The HTTP status of the upstream's answer." }) http_status!: number;
  @ApiProperty({
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 of `shape` as JSON without blanks, its keys sorted.',
  })
  fingerprint!: string;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description:
      'A JSON Schema (draft 2020-12) of the answer, without any value. `type` may also be `not JSON` or `no body`. Keys ' +
      'that do not look like names of fields may be data: they are not shown, `additionalProperties` says what they hold.',
  })
  shape!: unknown;
  @ApiProperty({ type: 'string', format: 'date-time', description: "When it was first seen, by the database's clock." })
  first_seen_at!: Date;
  @ApiProperty({ type: 'string', format: 'uuid', description: 'The call that was answered like this first.' })
  first_call_id!: string;
}

export class ShapePage {
  @ApiProperty({ type: [ShapeRecord], description: 'Newest first.' }) shapes!: ShapeRecord[];
  @ApiProperty({
    anyOf: [{ type: 'string' }, { type: 'null' }],
    description: 'For `page_token`; null on the last page.',
  })
  next_page_token!: string | null;
}
