import { Decimal } from 'decimal.js';
import { Page } from 'playwright-core';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { Limits } from '../../../src/access/clients/limits/limits';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { startConsoleScene } from './console-scene';

export type Operating = Awaited<ReturnType<typeof startOperating>>;

/** A proxy, keys of its operators, apps, and a browser. */
async function startOperating() {
  const { proxy, visit, close } = await startConsoleScene();
  const clients = proxy.app.get(ClientsService, { strict: false });
  let auditors = 0;
  const pay = (key: string, phoneNumber: string, valueInUSD: number) =>
    proxy.post(key, '/payouts/airtime', { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }] });
  return {
    proxy,
    clients,
    admin: (await proxy.client('admin', 'admin')).key,
    approver: (await proxy.client('approver', 'approve', 'audit')).key,
    /** Returns the key of an administrator who also audits. */
    auditingAdmin: async () => (await proxy.client(`overseer-${(auditors += 1)}`, 'admin', 'audit')).key,
    /** Opens the console at a URL, signed in. */
    open: visit,
    /** Returns the key of a client with an approval threshold of 5 USD. */
    cautious: async (name: string, ...scopes: Scope[]) =>
      (await clients.create(name, scopes, { approvalOverUsd: new Decimal(5) })).key,
    change: (name: string, limits: Partial<Limits>) => clients.update(name, limits),
    pay,
    /** @returns the ID of a held call. */
    hold: async (key: string, phoneNumber: string) =>
      (await pay(key, phoneNumber, 6.25).expect(202)).body.call_id,
    close,
  };
}

let scene: Promise<Operating> | undefined;

/** Shared within a spec file, which closes it. */
export const operating = () => (scene ??= startOperating());

export const dialogOf = (page: Page) => page.getByRole('dialog');
