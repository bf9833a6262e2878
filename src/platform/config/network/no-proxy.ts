import { isIP } from 'node:net';
import { isAddressBlock, within } from './address-block';

/** Returns whether the exception applies to a host, in lower case and without brackets, and a port. */
export type ProxyException = (host: string, port: number) => boolean;

/**
 * Parses an entry of NO_PROXY: `*`, a domain with its subdomains (also as `.example.com` or `*.example.com`),
 * an IP address, each with or without a port, or a CIDR block.
 * @returns undefined for any other text.
 */
export function readException(entry: string): ProxyException | undefined {
  if (entry === '*') return () => true;
  if (isAddressBlock(entry)) return ofBlock(entry);
  const [, name = '', text] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(entry.toLowerCase()) ?? [];
  const matches = ofName(name);
  return matches && ((host, port) => (text === undefined || Number(text) === port) && matches(host, port));
}

function ofBlock(block: string): ProxyException {
  const isWithin = within([block]);
  return (host) => isIP(host) > 0 && isWithin(host);
}

function ofName(name: string): ProxyException | undefined {
  const address = name.replace(/^\[|\]$/g, '');
  if (isIP(address) > 0) return ofBlock(address);
  const domain = /^(?:\*?\.)?([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)$/.exec(name)?.[1];
  return domain === undefined ? undefined : (host) => host === domain || host.endsWith(`.${domain}`);
}
