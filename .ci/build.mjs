// Runs as `prepare`: builds `dist/` where the compiler is there. `npm install --omit=dev` has none, and must not fail.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'

const compiler = 'node_modules/typescript/bin/tsc'
if (existsSync(compiler)) {
  rmSync('dist', { recursive: true, force: true })
  process.exitCode = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.json'], { stdio: 'inherit' }).status ?? 1
  // So that `npx chat-server` works in a clone, too.
  if (existsSync('dist/cli/main.js')) chmodSync('dist/cli/main.js', 0o755)
}
