import { PassThrough } from 'node:stream';
import { confirm } from './terminal';

describe('confirm', () => {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true });
  const confirmWith = (type: (keys: PassThrough) => void) => {
    const keys = terminal();
    jest.spyOn(process, 'stdin', 'get').mockReturnValue(keys as unknown as typeof process.stdin);
    jest.spyOn(process, 'stderr', 'get').mockReturnValue(terminal() as unknown as typeof process.stderr);
    const answer = confirm('This changes everything.', undefined);
    type(keys);
    return answer;
  };
  afterEach(() => jest.restoreAllMocks());

  it('continues after yes', async () => {
    await confirmWith((keys) => keys.write('yes\n'));
  });

  it.each<[string, (keys: PassThrough) => void]>([
    ['another answer', (keys) => void keys.write('y\n')],
    ['Ctrl-C', (keys) => void keys.write('\x03')],
    ['Ctrl-D', (keys) => void keys.write('\x04')],
    ['the end of the input', (keys) => void keys.end()],
  ])('changes nothing after %s', async (_input, type) => {
    await expect(confirmWith(type)).rejects.toThrow('Nothing was changed.');
  });
});
