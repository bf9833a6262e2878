import { isNetwork, takesAirtime } from '../countries/countries';
import { Refusal } from '../envelope';
import { Prisma } from '../generated/client';
import { Asset, availableAsset } from '../info/assets';
import { Fields, readPhoneNumber, readText } from '../validation';

const CRYPTO_ADDRESS = /^[A-Za-z0-9]{20,100}$/; // Accepts addresses of all common kinds.

/**
 * Returns a recipient's choice on the redeem page, as `redeemData` stores it. Throws a Refusal that can be shown on the
 * page.
 */
export function readChoice(fields: Fields): Prisma.InputJsonObject {
  const type = readText(fields.type, 'What it becomes');
  switch (type) {
    case 'airtime': {
      const countryToSend = readText(fields.country, 'Country');
      if (!takesAirtime(countryToSend)) throw new Refusal('Country must be one of the list');
      return { type, countryToSend, phoneNumber: readPhoneNumber(fields.phoneNumber, 'Phone number') };
    }
    case 'momo': {
      const [countryToSend = '', momoCode = ''] = readText(fields.network, 'Country and network').split('/');
      if (!isNetwork(countryToSend, momoCode)) throw new Refusal('Country and network must be one of the list');
      return { type, countryToSend, momoCode, phoneNumber: readPhoneNumber(fields.phoneNumber, 'Phone number') };
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
      throw new Refusal('What it becomes must be one of the list');
  }
}

function readAsset(type: Asset['type'], value: unknown): string {
  const asset = availableAsset(type, readText(value, 'Choice'));
  if (!asset) throw new Refusal('Choice must be one of the list');
  return asset.code;
}
