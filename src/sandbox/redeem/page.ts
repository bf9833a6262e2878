import Decimal from 'decimal.js';
import type { FastifyPluginCallback, FastifyReply } from 'fastify';
import { AIRTIME_COUNTRIES, MOBILE_MONEY_CODES, isNetwork, takesAirtime } from '../countries/countries';
import { Database } from '../database';
import { Transaction, Prisma } from '../generated/client';
import { Refusal } from '../http/envelope';
import { fieldsOf, readText, Fields, readPhoneNumber } from '../http/validation';
import { Asset, ASSETS, availableAsset } from '../info/info';
import { REDEEM_PATH, redeemLink } from '../pages/links';
import { html, Html, errorBox, sendPage, servePages, usdText } from '../pages/page';
import { NOT_DELETED } from '../transactions/status';
import { redeem } from './redeem';

/** Page of a redeemLink, where the recipient redeems a credit. */
export function redeemPage(database: Database): FastifyPluginCallback {
  return (server, _options, done) => {
    servePages(server);
    server.get(REDEEM_PATH, async (request, reply) => {
      const chiRef = readText(fieldsOf(request.query).chiRef, 'chiRef');
      return sendRedeemPage(reply, await findCredit(database, chiRef));
    });
    server.post(REDEEM_PATH, async (request, reply) => {
      const fields = fieldsOf(request.body);
      const chiRef = readText(fields.chiRef, 'chiRef');
      try {
        const choice = readChoice(fields);
        await database.$transaction((work) => redeem(work, { chiRef }, choice));
        // A reload must not send the form again.
        return reply.redirect(redeemLink('', chiRef), 303);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return sendRedeemPage(reply, await findCredit(database, chiRef), error.message);
      }
    });
    done();
  };
}

function findCredit(database: Database, chiRef: string): Promise<Transaction | null> {
  return database.transaction.findUnique({ where: { chiRef, type: 'credit', ...NOT_DELETED } });
}

/** Sends the page for the state of the credit. `fault` is the error of a rejected form. */
function sendRedeemPage(reply: FastifyReply, credit: Transaction | null, fault?: string): FastifyReply {
  if (!credit) return sendPage(reply, 404, 'Your credit', errorBox('There is no credit behind this link.'));
  const amount = html`<p class="amount">${usdText(new Decimal(credit.valueInUSD))}</p>`;
  const httpStatus = fault === undefined ? 200 : 400;
  switch (credit.status) {
    case 'paid':
      return sendPage(
        reply,
        httpStatus,
        'Redeem your credit',
        html`${amount}${fault !== undefined && errorBox(fault)}${choices(credit.chiRef)}`,
      );
    case 'redeemed':
      return sendPage(
        reply,
        httpStatus,
        'This credit is redeemed',
        html`${amount}
          <p>${becameText(credit)}</p>`,
      );
    case 'unpaid':
      return sendPage(
        reply,
        httpStatus,
        'Not paid yet',
        html`${amount}
          <p>Open this link again once it is paid.</p>`,
      );
    default:
      return sendPage(
        reply,
        httpStatus,
        'This credit cannot be redeemed',
        html`<p>Ask the sender for a new one.</p>`,
      );
  }
}

/** Describes the redemption without the full recipient, because links are passed on. */
function becameText({ redeemData }: Transaction): string {
  if (redeemData === null) return 'It was redeemed.'; // By the control interface.
  const { type, code, phoneNumber } = redeemData as { type: string; code?: string; phoneNumber?: string };
  const asset = ASSETS.find((row) => row.type === type && (code === undefined || row.code === code));
  const ending = phoneNumber ? `, for the phone number that ends in ${phoneNumber.slice(-2)}` : '';
  return `It became: ${asset?.name ?? type}${ending}.`;
}

function choices(chiRef: string): Html {
  const phone = html`<label
    >Phone number, with + and country code
    <input name="phoneNumber" type="tel" autocomplete="tel" placeholder="+254700000000" required
  /></label>`;
  const networks = MOBILE_MONEY_CODES.map(({ country, code, name }) => ({
    value: `${country}/${code}`,
    text: `${country}: ${name}`,
  }));
  const countries = AIRTIME_COUNTRIES.map((country) => ({ value: country, text: country }));
  const address = html`<label
    >Address <input name="address" autocomplete="off" spellcheck="false" required
  /></label>`;
  const country = select('country', 'Country', countries);
  const network = select('network', 'Country and network', networks);
  const currency = select('code', 'Currency', assets('crypto'));
  return html`${[
    choice(chiRef, 'airtime', 'Airtime', html`${country}${phone}`),
    choice(chiRef, 'momo', 'Mobile money', html`${network}${phone}`),
    choice(chiRef, 'gift-card', 'Gift card', select('code', 'Gift card', assets('gift-card'))),
    choice(chiRef, 'crypto', 'Crypto', html`${currency}${address}`),
    choice(chiRef, 'other', 'Other assets', select('code', 'Asset', assets('other'))),
  ]}`;
}

function choice(chiRef: string, type: Asset['type'], title: string, fields: Html): Html {
  return html`<details name="choice">
    <summary>${title}</summary>
    <form method="post" action="${REDEEM_PATH}">
      <input type="hidden" name="chiRef" value="${chiRef}" />
      <input type="hidden" name="type" value="${type}" />
      ${fields}
      <button>Redeem as ${title.toLowerCase()}</button>
    </form>
  </details>`;
}

interface Option {
  value: string;
  text: string;
}

/** Returns a selection of the distinct options. */
function select(name: string, label: string, options: Option[]): Html {
  const distinct = new Map(options.map((option) => [option.value, option]));
  return html`<label
    >${label}
    <select name="${name}" required>
      <option value="">Choose…</option>
      ${[...distinct.values()].map(({ value, text }) => html`<option value="${value}">${text}</option>`)}
    </select></label
  >`;
}

function assets(type: Asset['type']): Option[] {
  return ASSETS.filter((asset) => asset.type === type && asset.available).map(({ code, name }) => ({
    value: code,
    text: name,
  }));
}

const CRYPTO_ADDRESS = /^[A-Za-z0-9]{20,100}$/; // All common address formats.

/** Returns a recipient's choice as `redeemData` stores it. Throws a Refusal with a text for the page. */
function readChoice(fields: Fields): Prisma.InputJsonObject {
  const type = readText(fields.type, 'Asset type');
  switch (type) {
    case 'airtime': {
      const countryToSend = readText(fields.country, 'Country');
      if (!takesAirtime(countryToSend)) throw new Refusal('Country must be one of the list');
      return { type, countryToSend, phoneNumber: readPhoneNumber(fields.phoneNumber, 'Phone number') };
    }
    case 'momo': {
      const [countryToSend = '', momoCode = ''] = readText(fields.network, 'Country and network').split('/');
      if (!isNetwork(countryToSend, momoCode))
        throw new Refusal('Country and network must be one of the list');
      return {
        type,
        countryToSend,
        momoCode,
        phoneNumber: readPhoneNumber(fields.phoneNumber, 'Phone number'),
      };
    }
    case 'gift-card':
    case 'other':
      return { type, code: readAsset(type, fields.code) };
    case 'crypto': {
      const address = readText(fields.address, 'Address').trim();
      if (!CRYPTO_ADDRESS.test(address)) throw new Refusal('Address must be 20 to 100 letters and digits');
      return { type, code: readAsset(type, fields.code), address };
    }
    default:
      throw new Refusal('Asset type must be one of the list');
  }
}

function readAsset(type: Asset['type'], value: unknown): string {
  const asset = availableAsset(type, readText(value, 'Choice'));
  if (!asset) throw new Refusal('Choice must be one of the list');
  return asset.code;
}
