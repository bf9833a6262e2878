import { ValidateBy, ValidationArguments } from 'class-validator';
import { OneOf } from '../../http/validation/rules/query-rules';
import { field, NotForwarded, Text } from '../../http/validation/rules/rules';
import { BOOLEAN, described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { MAX_REASON, STOPPABLE } from './stoppable';

const TARGETS = ['everything', 'client', 'operation'] as const;

const targetsOf = (body: object) =>
  TARGETS.filter((name) => (body as Record<string, unknown>)[name] !== undefined);

const OnlyTarget = () =>
  ValidateBy({
    name: 'onlyTarget',
    validator: {
      validate: (_value, args?: ValidationArguments) => targetsOf(args?.object ?? {}).length <= 1,
      defaultMessage: () => `must be the only target: give one of ${TARGETS.join(', ')}`,
    },
  });

@NotForwarded()
export class NewStopDto {
  @OnlyTarget()
  @field(
    {
      required: false,
      requiredIf: (body) => targetsOf(body).length === 0,
      must: 'must be true, unless client or operation is given',
      test: (value) => value === true,
    },
    { type: 'boolean', enum: [true], description: 'Stops all payments and writes of all clients.' },
  )
  everything?: true;

  @OnlyTarget()
  @Text({
    max: 40,
    required: false,
    description: 'Name of a client. Stops all its payments and writes.',
    example: 'shop',
  })
  client?: string;

  @OnlyTarget()
  @OneOf(STOPPABLE, 'An operation that pays or writes. Stops it for all clients.')
  operation?: string;

  @Text({
    max: MAX_REASON,
    description: 'Reason, which refused clients read. Do not include names of people or secrets.',
  })
  reason!: string;
}

export class StopList {
  @OneOf(['true', 'false'], 'Whether to include lifted stops.') all?: string;
}

export class StopLift {
  @OneOf(
    ['true', 'false'],
    "Whether to lift the stop of a recovered database before the upstream's list of the recovery gap was " +
      'read. The record says so.',
  )
  unreconciled?: string;

  @Text({ max: 1_000, required: false, description: 'Reason for the second person.', example: 'Case 17' })
  reason?: string;
}

export class StopAuthorRecord {
  @nullable(TEXT, 'Name of the client. Null for the command line.') client!: string | null;
  @nullable(UUID, 'ID of the key. Null for the command line.') key_id!: string | null;
  @nullable(TEXT, 'Owner of the key, or user of the operating system.') actor!: string | null;
}

export class StopRecord {
  @described(UUID, 'ID of the stop.') id!: string;
  @described(BOOLEAN, 'Whether it stops all payments and writes.') everything!: boolean;
  @nullable(TEXT, 'Name of the stopped client.') client!: string | null;
  @nullable({ enum: STOPPABLE }, 'Stopped operation.') operation!: string | null;
  @described(TEXT, 'Reason, which refused clients read.') reason!: string;
  @nullable({ enum: ['database_behind'] }, 'Cause of a stop by the proxy. Null for a stop by a person.')
  cause!: 'database_behind' | null;
  @described(INSTANT, 'Start of the stop.') stopped_at!: Date;
  @nullable(StopAuthorRecord, 'Author of the stop. Null for the proxy.')
  stopped_by!: StopAuthorRecord | null;
  @nullable(INSTANT, 'Time of the lift. Null while the stop is active.') lifted_at!: Date | null;
  @nullable(StopAuthorRecord, 'Author of the lift.') lifted_by!: StopAuthorRecord | null;
  @described(BOOLEAN, "Whether it was lifted before the upstream's list of the recovery gap was read.")
  unreconciled!: boolean;
}

export class Stops {
  @described({ type: [StopRecord] }, 'Newest first.') stops!: StopRecord[];
}
