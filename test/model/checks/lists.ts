import { World } from '../world';

/** Returns the IDs of all calls visible to an auditor. */
export async function listCalls(world: World, search: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let token: string | null = ''; token !== null;) {
    const paging: string = `page_size=200${token && `&page_token=${token}`}`;
    const page = await world.read(`/v1/audit/calls?${search}&${paging}`, world.keys.auditor);
    for (const { id } of page.calls) ids.add(id);
    token = page.next_page_token;
  }
  return ids;
}
