// Runs as `prepare`: builds `dist/` where the compiler is there. `npm install --omit=dev` has none, and must not fail.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'

const compiler = 'node_modules/typescript/bin/tsc'
if (existsSync(compiler)) {
  rmSync('dist', { recursive: true, force: true })
  process.exitCode = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.json'], { stdio: 'inherit' }).status ?? 1
}
