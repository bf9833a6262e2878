import { described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';

export class RecordActingPerson {
  @described(UUID, 'ID of the person.') person_id!: string;
}

/** The page session of a request. */
export class RecordSession {
  @described(UUID, 'ID of the session.') id!: string;
  @nullable(INSTANT, 'When the person signed in (`auth_time`), if the provider says it.')
  auth_time!: string | null;
}

/** The access token of a request. It opens nothing. */
export class RecordToken {
  @nullable(TEXT, 'The ID that the identity provider gave it (`jti`).') jti!: string | null;
  @nullable(TEXT, 'Thumbprint of the key of the app that it is bound to (`cnf.jkt`). Null: it is a bearer token.')
  jkt!: string | null;
  @nullable(INSTANT, 'When the person signed in (`auth_time`), if the token says it.')
  auth_time!: string | null;
  @nullable(RecordActingPerson, 'Who acted for the person (`act`), such as a colleague of support.')
  act!: RecordActingPerson | null;
}
