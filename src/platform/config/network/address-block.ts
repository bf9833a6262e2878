import { BlockList, isIP } from 'node:net';

/** Returns whether text is an IP address or a CIDR block (RFC 4632, RFC 4291 section 2.3). */
export function isAddressBlock(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= widthOf(family));
}

/** Returns a test for addresses in the blocks. It reads an IPv4-mapped IPv6 address as IPv4. */
export function within(blocks: readonly string[]): (address: string) => boolean {
  if (blocks.length === 0) return () => false; // a test of an empty list takes microseconds
  const list = new BlockList();
  for (const block of blocks) {
    const [net = '', bits] = block.split('/');
    const family = isIP(net);
    list.addSubnet(net, bits === undefined ? widthOf(family) : Number(bits), family === 6 ? 'ipv6' : 'ipv4');
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  };
}

const isLoopbackAddress = within(['127.0.0.0/8', '::1']);

/** Returns whether a host, without brackets, is this machine. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === 'localhost' || host.endsWith('.localhost');
  return family === 4 ? host.startsWith('127.') : isLoopbackAddress(host);
}

function widthOf(family: number): number {
  return family === 6 ? 128 : 32;
}
