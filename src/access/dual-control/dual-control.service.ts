import { Inject, Injectable, Logger } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { BeneficiariesService } from '../clients/beneficiaries.service';
import { AT_START, ChangeAuthor, ChangeRecords, permissionsOf } from '../clients/changes';
import {
  checkAccount,
  checkName,
  clientExists,
  ClientWrites,
  holdersOf,
  isTaken,
  lockClient,
} from '../clients/client-writes';
import {
  ClientsService,
  CreatedClient,
  IssuedKey,
  NewClientOptions,
  TRANSACTION_LIMITS,
} from '../clients/clients.service';
import { checkGrants, Grants, grantsOf, toPermissions } from '../clients/grants';
import { KeyOptions, KeyRow, makeFirstKey, makeKey, requireServer } from '../clients/key-rows';
import { ListedClient } from '../clients/listed';
import { completeProviders, NO_PROVIDERS } from '../clients/providers';
import { RegisterChange, RegisterChangeResult, RegisterWrites, toWrite } from '../clients/register-writes';
import { isSignIn, makeSignIn, requireNewSubject, SignInOptions } from '../clients/sign-ins';
import { MergeDocument, mergePeople, MergeRequest, readMerge } from '../people/merges';
import { OwnLimits } from '../people/person';
import { PersonExceptionsService, PersonExceptionWrites, readOwnLimits } from '../people/person-exceptions';
import {
  ChangeDocument,
  readBefore,
  registerExpansion,
  requireOneDirection,
  toKeyDocument,
} from './change-document';
import { expansions, NO_GRANTS, personExpansions } from './expansion';
import { isDualControlRecorded } from './installation';
import { insertPending, lockChanges, NewPendingChange, RequestedChange } from './pending-changes';
import { requireSeparationOfDuties } from './separation-of-duties';

/**
 * Changes clients and their keys for administrators. With dual control, a change that expands a client waits
 * for a second person. A change that narrows it applies at once.
 */
@Injectable()
export class DualControlService {
  private readonly logger = new Logger('DualControl');
  /** Whether dual control is on. */
  readonly isOn: boolean;
  private readonly isProduction: boolean;
  private readonly waitsForMs: number;
  private readonly writes: ClientWrites;
  private readonly registerWrites: RegisterWrites;
  private readonly exceptionWrites: PersonExceptionWrites;

  constructor(
    private readonly prisma: SidePrisma,
    private readonly clients: ClientsService,
    private readonly register: BeneficiariesService,
    private readonly exceptions: PersonExceptionsService,
    private readonly records: ChangeRecords,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    const { dualControl, production, approvalExpiresAfterSeconds } = settings;
    this.isOn = dualControl;
    this.isProduction = production;
    this.waitsForMs = approvalExpiresAfterSeconds * 1_000;
    this.writes = new ClientWrites(records);
    this.registerWrites = new RegisterWrites(records);
    this.exceptionWrites = new PersonExceptionWrites(records);
  }

  /** Creates a client. A server gets its first key. @throws ClientError, Problem */
  async create(
    name: string,
    scopes: string[],
    options: NewClientOptions,
    author: ChangeAuthor,
  ): Promise<CreatedClient | RequestedChange> {
    if (!this.isOn) return this.clients.create(name, scopes, options, author);
    const { account = MAIN_ACCOUNT, kind = 'server', person, expiresAt, ...grants } = options;
    checkName(name);
    checkAccount(account);
    checkGrants({ scopes, ...grants });
    const granted = { scopes, ...completeProviders({ ...NO_PROVIDERS, origins: [] }, grants) };
    const { key, row } = makeFirstKey(name, kind, { person, expiresAt });
    return this.serialized(async (tx) => {
      if (await isTaken(tx, name)) throw clientExists(name);
      await requireSeparationOfDuties(tx, name, { scopes, owners: [row ?? {}] });
      const permissions = toPermissions(granted);
      const change = { account, kind, permissions, ...(row && { key: toKeyDocument(row) }) };
      const expands = expansions(NO_GRANTS, { ...NO_GRANTS, ...granted });
      const client = { id: null, name };
      const pending = { kind: 'create_client', client, expands, before: null, change } as const;
      return { ...(await this.suspend(tx, pending, author)), key: shownKey(key, person) };
    });
  }

  /** Changes the permissions of a client. @throws ClientError, Problem */
  async update(
    name: string,
    grants: Partial<Grants>,
    author: ChangeAuthor,
  ): Promise<ListedClient | RequestedChange> {
    if (!this.isOn) return this.clients.update(name, grants, author);
    checkGrants(grants);
    return this.serialized(async (tx) => {
      const client = await lockClient(tx, name);
      const before = grantsOf(client);
      const change = completeProviders(before, grants);
      const expands = expansions(before, { ...before, ...change });
      const holders = await holdersOf(tx, client.id);
      if (change.scopes) {
        await requireSeparationOfDuties(tx, name, { scopes: change.scopes, owners: holders });
      }
      if (expands.length === 0) return this.writes.update(tx, client, change, author);
      const document = { permissions: toPermissions(change) };
      const state = { permissions: permissionsOf(client), holders };
      const pending = { kind: 'change_client', client, expands, before: state, change: document } as const;
      return this.suspend(tx, pending, author);
    });
  }

  /** Issues another key for a client. @throws ClientError, Problem */
  async issueKey(
    name: string,
    options: KeyOptions,
    author: ChangeAuthor,
  ): Promise<IssuedKey | RequestedChange> {
    if (!this.isOn) return this.clients.issueKey(name, options, author);
    const { key, row } = makeKey(name, options);
    return { ...(await this.issue(name, row, author)), key: shownKey(key, options.person) };
  }

  /** Lets a person sign in as a client at the provider. @throws ClientError, Problem */
  async allowSignIn(
    name: string,
    options: SignInOptions,
    author: ChangeAuthor,
  ): Promise<{ id: string } | RequestedChange> {
    if (!this.isOn) return this.clients.allowSignIn(name, options, author);
    return this.issue(name, makeSignIn(options), author);
  }

  /** Issues a key after a second person's approval, because its holder gets all rights of the client. */
  private issue(name: string, row: KeyRow, author: ChangeAuthor): Promise<RequestedChange> {
    return this.serialized(async (tx) => {
      const client = await lockClient(tx, name);
      requireServer(client);
      await requireSeparationOfDuties(tx, name, { scopes: client.scopes, owners: [row] });
      if (isSignIn(row)) await requireNewSubject(tx, row);
      const change: ChangeDocument = { permissions: {}, key: toKeyDocument(row) };
      const state = await readBefore(tx, client);
      const pending = { kind: 'issue_key', client, expands: ['keys'], before: state, change } as const;
      return this.suspend(tx, pending, author);
    });
  }

  /** Changes a register. Additions to `allowed` and removals from `blocked` expand the client. */
  async changeRegister(
    name: string,
    change: RegisterChange,
    author: ChangeAuthor,
  ): Promise<RegisterChangeResult | RequestedChange> {
    if (!this.isOn) return this.register.change(name, change, author);
    requireOneDirection(change);
    return this.serialized(async (tx) => {
      const client = await lockClient(tx, name);
      const write = toWrite(client.id, change);
      const register = await registerExpansion(tx, client.id, write);
      if (!register) return this.registerWrites.change(tx, client, write, author);
      const document = { permissions: {}, register };
      const [expands, before] = [['beneficiaries'], await readBefore(tx, client)];
      return this.suspend(tx, { kind: 'change_client', client, expands, before, change: document }, author);
    });
  }

  /** Changes the limits of a person. Undefined if applied at once. @throws ClientError, Problem */
  async limitPerson(
    name: string,
    id: string,
    change: Partial<OwnLimits>,
    author: ChangeAuthor,
  ): Promise<RequestedChange | undefined> {
    if (!this.isOn) return this.exceptions.limit(name, id, change, author);
    checkGrants(change);
    return this.serialized(async (tx) => {
      const client = await lockClient(tx, name);
      const before = await readOwnLimits(tx, client.id, id);
      const expands = personExpansions(before, { ...before, ...change }, grantsOf(client));
      if (expands.length === 0) return this.exceptionWrites.limit(tx, client, { id, before, change }, author);
      const state = { ...(await readBefore(tx, client)), person: toPermissions(before) };
      const document = { permissions: {}, person: { id, limits: toPermissions(change) } };
      const pending = { kind: 'change_client', client, expands, before: state, change: document } as const;
      return this.suspend(tx, pending, author);
    });
  }

  /** Merges two people into one human. @throws ClientError, Problem */
  async mergePeople(merge: MergeRequest, author: ChangeAuthor): Promise<MergeDocument | RequestedChange> {
    if (!this.isOn) return mergePeople(this.prisma, this.records, merge, author);
    const change = { permissions: {}, merge: await readMerge(this.prisma, merge) };
    const merging = { kind: 'merge_people', client: null, before: null, change } as const;
    return this.request({ ...merging, expands: ['people'] }, author);
  }

  /** Requests a change of the installation. @throws Problem */
  request(pending: NewPendingChange, author: ChangeAuthor): Promise<RequestedChange> {
    return this.serialized((tx) => this.suspend(tx, pending, author));
  }

  /** Records the setting of dual control at startup, if it has changed. */
  async recordSetting(): Promise<void> {
    await this.serialized(async (tx) => {
      const before = await isDualControlRecorded(tx);
      if (before === this.isOn) return;
      const states = { before: { dual_control: before }, after: { dual_control: this.isOn } };
      const act = { action: 'dual_control_changed', client: null, keyId: null, ...states } as const;
      await this.records.record(tx, [act], AT_START);
    });
    if (this.isProduction && !this.isOn) this.logger.warn('dual control is off');
  }

  /** Serializes changes and decisions, so two concurrent changes cannot evade a check together. */
  private serialized<Result>(work: (tx: Prisma.TransactionClient) => Promise<Result>): Promise<Result> {
    return this.prisma.$transaction(async (tx) => {
      await lockChanges(tx);
      return work(tx);
    }, TRANSACTION_LIMITS);
  }

  private suspend(
    tx: Prisma.TransactionClient,
    pending: NewPendingChange,
    author: ChangeAuthor,
  ): Promise<RequestedChange> {
    return insertPending(tx, this.records, pending, author, this.waitsForMs);
  }
}

/** Hides a personal key from its requester. Its secret is created at the claim. */
const shownKey = (key: string | undefined, person?: string) => (person === undefined ? key : undefined);
