import { isWebOrigin } from './web-origin';

describe('a web origin', () => {
  it.each([
    'https://shop.example',
    'https://shop.example:8443',
    'https://192.0.2.1',
    'https://[2001:db8::1]:8443',
    'http://localhost:5173',
    'http://127.0.0.1:5173',
  ])('can be %s', (text) => expect(isWebOrigin(text)).toBe(true));

  it.each([
    '',
    'null',
    '*',
    'shop.example',
    'http://shop.example',
    'https://',
    'https://shop.example/',
    'https://*.example',
    'http://localhost.example',
    'http://localhost:80',
    'http://127.0.0.2',
    'https://Shop.example',
    'https://shop.example:443',
    'https://shop.example:99999',
    'https://ada@shop.example',
    'https://shop.example/a',
    'https://shop.example?a',
    'https://bücher.example',
    ' https://shop.example',
  ])('cannot be %j', (text) => expect(isWebOrigin(text)).toBe(false));
});
