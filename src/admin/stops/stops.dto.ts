import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy, ValidationArguments } from 'class-validator';
import { CHANGING_OPERATIONS } from '../../operations/effects';
import { NotForwarded } from '../../http/validation/nothing.dto';
import { OneOf } from '../../http/validation/query-rules';
import { field, Text } from '../../http/validation/rules';

/** What can be stopped: reads go on. */
export const STOPPABLE: string[] = [...CHANGING_OPERATIONS];

/** The longest reason: it is read by everybody whom the stop holds back. */
export const MAX_REASON = 500;

const TARGETS = ['everything', 'client', 'operation'] as const;

const targetsOf = (body: object) => TARGETS.filter((name) => (body as Record<string, unknown>)[name] !== undefined);

const OnlyTarget = () =>
  ValidateBy({
    name: 'onlyTarget',
    validator: {
      validate: (_value, args?: ValidationArguments) => targetsOf(args?.object ?? {}).length <= 1,
      defaultMessage: () => `must stand alone: name one of ${TARGETS.join(', ')}`,
    },
  });

@NotForwarded()
export class NewStopDto {
  @OnlyTarget()
  @field(
    {
      name: 'everything',
      required: false,
      requiredIf: (body) => targetsOf(body).length === 0,
      must: 'must be true, unless client or operation says what to stop',
      test: (value) => value === true,
    },
    { type: 'boolean', enum: [true], description: 'Stops all operations of all clients that pay or write.' },
  )
  everything?: true;

  @OnlyTarget()
  @Text({ max: 40, required: false, description: "A client's name: stops what it pays and writes.", example: 'shop' })
  client?: string;

  @OnlyTarget()
  @OneOf(STOPPABLE, 'An operation that pays or writes: stops it for all clients.')
  operation?: string;

  @Text({ max: MAX_REASON, description: 'Why. Who is refused reads it: name no person and no secret.' })
  reason!: string;
}

export class StopList {
  @OneOf(['true', 'false'], 'Whether those that were lifted are listed too.')
  all?: string;
}

export class StopAuthorRecord {
  @ApiProperty({ type: 'string', description: "The client's name." }) client!: string;
  @ApiProperty({ type: 'string', format: 'uuid', description: "The key's id." }) key_id!: string;
  @ApiProperty({ anyOf: [{ type: 'string' }, { type: 'null' }], description: 'The person, where known.' })
  actor!: string | null;
}

const AUTHOR = { anyOf: [{ $ref: '#/components/schemas/StopAuthorRecord' }, { type: 'null' }] };

export class StopRecord {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'Its id.' }) id!: string;
  @ApiProperty({ type: 'boolean', description: 'Whether it stops all that pays or writes.' }) everything!: boolean;
  @ApiProperty({ anyOf: [{ type: 'string' }, { type: 'null' }], description: 'The client that it stops, by name.' })
  client!: string | null;
  @ApiProperty({ anyOf: [{ enum: STOPPABLE }, { type: 'null' }], description: 'The operation that it stops.' })
  operation!: string | null;
  @ApiProperty({ type: 'string', description: 'Why; who is refused reads it.' }) reason!: string;
  @ApiProperty({ type: 'string', format: 'date-time', description: 'Since when it holds.' }) stopped_at!: Date;
  @ApiProperty({ ...AUTHOR, description: 'Who stopped it; null: the command line.' })
  stopped_by!: StopAuthorRecord | null;
  @ApiProperty({ anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }], description: 'Null: it holds.' })
  lifted_at!: Date | null;
  @ApiProperty({ ...AUTHOR, description: 'Who lifted it; null: nobody yet, or the command line.' })
  lifted_by!: StopAuthorRecord | null;
}

export class Stops {
  @ApiProperty({ type: [StopRecord], description: 'Newest first.' }) stops!: StopRecord[];
}
