// Runs as `prepare`: builds `dist/` where the compiler is there. `npm install --omit=dev` has none, and must not fail.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const compiler = 'node_modules/typescript/bin/tsc'
if (existsSync(compiler)) execFileSync(process.execPath, [compiler, '-p', 'tsconfig.json'], { stdio: 'inherit' })
