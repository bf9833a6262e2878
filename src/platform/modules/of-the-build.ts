import { join } from 'node:path';
import { useCompiledModules } from './compiled-modules';

const options = [...process.execArgv, process.env['NODE_OPTIONS']].join(' ');

// Debuggers, profilers and source maps look for modules in their own files.
if (!/--(inspect|cpu-prof|enable-source-maps)/.test(options))
  useCompiledModules(join(__dirname, '..', '..', 'modules.compiled'));
