import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetching, run } from './programs.ts'
import { startTarget } from './target.ts'

/** One generator and its language. */
export interface Client {
  name: string
  /** Programs that must be installed. */
  needs: string[]
  /** Compiles many packages beside the client: takes minutes where none of them is cached. */
  is_slow?: true
  /** Generates the client in an empty folder and compiles it; throws when it does not. */
  make(at: { folder: string; description: string }): Promise<void>
}

const OPENAPI_GENERATOR = '7.14.0'
const OAPI_CODEGEN = 'v2.8.0'
const HEY_API = '0.99.0'
const TYPESCRIPT = '5.9.3'
/** The runtime of the code that oapi-codegen makes. */
const OAPI_RUNTIME = 'v1.8.0'

export const CLIENTS: Client[] = [
  { name: 'openapi-generator python', needs: ['java', 'python3'], make: python },
  { name: 'openapi-generator go', needs: ['java', 'go'], make: go },
  { name: 'openapi-generator java', needs: ['java', 'mvn'], is_slow: true, make: java },
  { name: 'openapi-generator rust', needs: ['java', 'cargo'], is_slow: true, make: rust },
  { name: 'openapi-generator typescript-fetch', needs: ['java', 'npm'], make: typescriptFetch },
  { name: 'oapi-codegen', needs: ['go'], is_slow: true, make: oapiCodegen },
  { name: 'hey-api', needs: ['npm'], make: heyApi },
]

type At = { folder: string; description: string }

/** What it makes of the calls to webhooks has no names for their bodies, and takes the place of the routes about webhooks. */
const NO_WEBHOOKS = ['--global-property', 'apis,models,supportingFiles']

async function generate(generator: string, { folder, description }: At, ...options: string[]): Promise<void> {
  const args = ['generate', '-i', description, '-g', generator, '-o', folder, ...NO_WEBHOOKS, ...options]
  await run('java', ['-jar', await generatorJar(), ...args], folder)
}

let generator: Promise<string> | undefined

/** The program of openapi-generator, kept from run to run. */
function generatorJar(): Promise<string> {
  generator ??= findGenerator()
  return generator
}

async function findGenerator(): Promise<string> {
  const { OPENAPI_GENERATOR_JAR } = process.env
  if (OPENAPI_GENERATOR_JAR) return OPENAPI_GENERATOR_JAR
  const home = join(tmpdir(), 'chat-server-openapi-generator')
  const jar = join(home, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`)
  const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`
  if (!existsSync(jar))
    await fetching(
      'openapi-generator',
      'mvn',
      ['-q', '-B', 'dependency:copy', artifact, `-DoutputDirectory=${home}`],
      tmpdir(),
    )
  return jar
}

/** Imports every module, and runs `walk.py` against a service. */
async function python(at: At): Promise<void> {
  await generate('python', at)
  await run('python3', ['-m', 'venv', 'venv'], at.folder)
  const program = join(at.folder, 'venv', 'bin', 'python')
  await fetching('packages of PyPI', program, ['-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt'], at.folder)
  const imports = `import importlib, pkgutil, openapi_client as client
for each in pkgutil.walk_packages(client.__path__, 'openapi_client.'): importlib.import_module(each.name)`
  await run(program, ['-c', imports], at.folder)
  const target = await startTarget()
  try {
    const walk = fileURLToPath(new URL('walk.py', import.meta.url))
    const output = await run(program, [walk, target.url], at.folder, { PYTHONPATH: at.folder })
    assert.deepEqual(output.trimEnd().split('\n'), WALKED)
  } finally {
    await target.close()
  }
}

const WALKED = [
  'set up before: False',
  'signed in: ada',
  'stream: StreamReadyEvent',
  'posted once: True',
  "followed: ['thread.new', 'Does it run?', 'It runs.']",
  "tree: [(0, 'Does it run?'), (1, 'It runs.')]",
  "listed: ['Engines']",
  'failure: 404 not_found',
]

async function go(at: At): Promise<void> {
  await generate('go', at, '--additional-properties=enumClassPrefix=true')
  await fetching('Go modules', 'go', ['mod', 'tidy'], at.folder)
  await run('go', ['build', './...'], at.folder)
}

async function java(at: At): Promise<void> {
  await generate('java', at)
  await fetching('packages of Maven Central', 'mvn', ['-q', '-B', 'dependency:resolve'], at.folder)
  await run('mvn', ['-q', '-B', 'compile'], at.folder)
}

async function rust(at: At): Promise<void> {
  // The generator takes a body of bytes for a file by its path, which its own client cannot send.
  await generate('rust', at, '--type-mappings=file=Vec<u8>')
  await fetching('packages of crates.io', 'cargo', ['fetch', '--quiet'], at.folder)
  await run('cargo', ['check', '--quiet'], at.folder)
}

async function typescriptFetch(at: At): Promise<void> {
  await generate('typescript-fetch', at)
  await typescript(at, 'index.ts')
}

async function oapiCodegen({ folder, description }: At): Promise<void> {
  const program = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${OAPI_CODEGEN}`
  const options = ['-generate', 'types,client', '-package', 'chat', '-o', 'chat.go']
  await fetching('Go modules', 'go', ['mod', 'download', program.replace('/cmd/oapi-codegen', '')], folder)
  await run('go', ['run', program, ...options, description], folder)
  await writeFile(join(folder, 'go.mod'), 'module example.com/chat\n\ngo 1.24\n')
  await fetching('Go modules', 'go', ['get', `github.com/oapi-codegen/runtime@${OAPI_RUNTIME}`], folder)
  await fetching('Go modules', 'go', ['mod', 'tidy'], folder)
  await run('go', ['build', './...'], folder)
}

async function heyApi(at: At): Promise<void> {
  await writeFile(join(at.folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  await install(at, `@hey-api/openapi-ts@${HEY_API}`, `typescript@${TYPESCRIPT}`)
  await run('npx', ['openapi-ts', '-i', at.description, '-o', 'src'], at.folder)
  await typescript(at, 'src/index.ts')
}

async function install({ folder }: At, ...packages: string[]): Promise<void> {
  const flags = [
    'install',
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
  ]
  await fetching('packages of npm', 'npm', [...flags, ...packages], folder)
}

/** Compiles as a bundler's project does: both generators leave the endings of files out. */
async function typescript(at: At, file: string): Promise<void> {
  if (!existsSync(join(at.folder, 'node_modules/typescript'))) await install(at, `typescript@${TYPESCRIPT}`)
  const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler']
  await run('npx', ['tsc', ...flags, '--lib', 'es2023,dom,dom.iterable', file], at.folder)
}
