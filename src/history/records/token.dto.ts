import { INSTANT, nullable, orNull, text, UUID } from './record-fields';

export class RecordActingPerson {
  @text('ID of the person.', UUID) person_id!: string;
}

/** The page session of a request. */
export class RecordSession {
  @text('ID of the session.', UUID) id!: string;
  @nullable('string', 'When the person signed in (`auth_time`), if the provider says it.', INSTANT)
  auth_time!: string | null;
}

/** The access token of a request. It opens nothing. */
export class RecordToken {
  @nullable('string', 'The ID that the identity provider gave it (`jti`).') jti!: string | null;
  @nullable('string', 'Thumbprint of the key of the app that it is bound to (`cnf.jkt`). Null: it is a bearer token.')
  jkt!: string | null;
  @nullable('string', 'When the person signed in (`auth_time`), if the token says it.', INSTANT)
  auth_time!: string | null;
  @orNull(RecordActingPerson, 'Who acted for the person (`act`), such as a colleague of support.')
  act!: RecordActingPerson | null;
}
