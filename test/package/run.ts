/** Packs the package, installs it into an empty project, and uses it there as its users would. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const here = dirname(fileURLToPath(import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'chat-package-'))
const project = join(folder, 'project')
const installed = join(project, 'node_modules', 'chat-server')

/** How many packages an installation without the optional ones may have, this one included. */
const MAX_PACKAGES = 70

/** How many bytes the tarball may have; about 65,000 are the emoji of the web chat, in English and German. */
const MAX_BYTES = 2_700_000

/** How many bytes of declarations a compiler reads for a page with the client. */
const MAX_CLIENT_TYPES = 234_000

/** What a bundle cannot hold: addons, and what packages offer for other platforms or tools that are not installed. */
const OUTSIDE = ['better-sqlite3', '@node-rs/bcrypt', 'pg-native', 'nodemailer', 'listhen']

/** Packages of CommonJS in a bundle of ES modules need a `require`. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/** Files beside the folders of the package, because npm wants them or a document links them. */
const LINKED = [
  'package.json',
  'README.md',
  'LICENSE',
  '.github/CONTRIBUTING.md',
  '.github/SECURITY.md',
  'test/bench/README.md',
]

// Settings of the service from outside would decide what is tested.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CHAT_')))

/** Other runtimes, and how they run a program. */
const RUNTIMES: Record<string, string[]> = { bun: ['run'], deno: ['run', '--allow-all'] }

/** The runtimes to try, which are installed: `npm run test:package -- bun deno`. Without any, all that needs Node alone. */
const runtimes = process.argv.slice(2)

const onNode: Record<string, () => Promise<void>> = {
  'the tarball is small, and holds the build, the docs, the examples, and nothing else': checkFiles,
  'every relative link of its documents leads to a file in it, or to what the repository alone has': checkLinks,
  'every type declaration comes from a source that exists': checkBuild,
  'the entry points share one copy of the code': checkCopies,
  'every source map names its sources, and holds none': checkSourceMaps,
  'its types name no other package, nor a part that no entry point exports': checkTypes,
  'a page that uses the client loads few declarations': checkClientTypes,
  'publint finds no fault': () => lint('publint@0.3.25', '--strict'),
  'arethetypeswrong finds no fault for projects of ES modules': () =>
    lint('@arethetypeswrong/cli@0.18.5', '--profile', 'esm-only'),
  'importing and embedding it does nothing unasked, and closing ends the process': embed,
  'a program of CommonJS requires it': requireFromCommonJs,
  'a host that esbuild bundles runs, with the packages outside and with all of them inside': runBundles,
  'the program of the README runs, and again on the database that it has made': runReadme,
  'a clone without its development packages says how to build': buildWithoutPackages,
  'without optional packages it installs few, serves a host with its own login, and names what is missing':
    embedWithoutOptional,
  'its types compile in a strict Node project without skipLibCheck': compileForNode,
  'the types of its client compile in a browser project, which has none of Node': compileForBrowser,
  'chat-server serves, and stops on SIGTERM': serve,
  'Jest runs the test of the documentation, in CommonJS': runJest,
  'without the web chat it serves the API, and says so in one line': serveWithoutPage,
}

const steps: Record<string, () => Promise<void>> = {
  'it packs, and installs into an empty project': install,
  ...(runtimes.length === 0 ? onNode : {}),
  ...Object.fromEntries(
    runtimes.map((runtime) => [`${runtime} runs a host, by its server and by serve`, () => runOn(runtime)]),
  ),
}

let failed = 0
try {
  for (const [title, step] of Object.entries(steps)) {
    try {
      await step()
      console.log(`✓ ${title}`)
    } catch (error) {
      failed += 1
      console.log(`✗ ${title}\n${describe(error)}`)
      if (step === install) {
        failed = Object.keys(steps).length
        break
      }
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
console.log(`${Object.keys(steps).length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

async function install(): Promise<void> {
  await run('npm', ['pack', '--pack-destination', folder], root)
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
  // Compiling the SQLite addon takes a minute and shows nothing about this package: it is installed without scripts,
  // in the version that is built here already, and that build is copied.
  const addon = join('node_modules', 'better-sqlite3')
  const { version } = JSON.parse(readFileSync(join(root, addon, 'package.json'), 'utf8'))
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--prefix', project]
  await run('npm', ['install', ...flags, await packed(), `better-sqlite3@${version}`], project)
  const built = join(root, addon, 'build', 'Release')
  // From version 13 on, the package has the builds in it.
  if (existsSync(built)) await cp(built, join(project, addon, 'build', 'Release'), { recursive: true })
}

async function packed(): Promise<string> {
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  assert(tarball, 'npm pack wrote no tarball')
  return join(folder, tarball)
}

async function checkFiles(): Promise<void> {
  const files = await filesOf(installed)
  const foreign = files.filter(
    (file) =>
      /(^|\/)package-lock\.json$/.test(file) ||
      (!/^(dist\/(lib|cli|shared|web)|docs|examples)\//.test(file) && !LINKED.includes(file)) ||
      /\.test\./.test(file),
  )
  assert.deepEqual(foreign, [])
  for (const needed of ['README.md', 'LICENSE', 'dist/lib/index.d.ts', 'dist/cli/main.js', 'dist/web/page.mjs']) {
    assert(files.includes(needed), `${needed} is missing`)
  }
  assert(
    files.some((file) => file.startsWith('docs/')),
    'the docs are missing',
  )
  const { size } = await stat(await packed())
  assert(size <= MAX_BYTES, `the tarball has ${size} bytes`)
}

async function checkLinks(): Promise<void> {
  const documents = (await filesOf(installed)).filter((file) => file.endsWith('.md'))
  const { files } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { files: string[] }
  const left_out = files.filter((path) => /^![^*]+$/.test(path)).map((path) => path.slice(1))
  const broken: string[] = []
  for (const document of documents) {
    const text = (await readFile(join(installed, document), 'utf8')).replaceAll(/^```.*?^```/gms, '')
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^([a-z]+:|#)/.test(link)) continue
      const target = relative(installed, join(installed, dirname(document), link.replace(/#.*/, '')))
      const place = left_out.some((path) => target.startsWith(`${path}/`)) ? root : installed
      if (target.startsWith('..') || !existsSync(join(place, target))) broken.push(`${document}: ${link}`)
    }
  }
  assert(documents.length > 20, 'the documents are missing')
  assert.deepEqual(broken, [])
}

async function checkBuild(): Promise<void> {
  const declared = (await filesOf(join(installed, 'dist'))).filter((file) => file.endsWith('.d.ts'))
  const sources = declared.map((file) => file.replace(/\.d\.ts$/, '.ts'))
  assert.deepEqual(
    sources.filter((file) => !existsSync(join(root, file))),
    [],
  )
}

/** With two copies, a `ChatError` that one entry point throws would not be an instance of the other's. */
async function checkCopies(): Promise<void> {
  const code = (await filesOf(join(installed, 'dist'))).filter((file) => file.endsWith('.js'))
  const parts = await Promise.all(
    code.map(async (file) => {
      const text = await readFile(join(installed, 'dist', file), 'utf8')
      return [...new Set(Array.from(text.matchAll(/^\/\/ ((?:lib|cli)\/\S+\.ts)$/gm), ([, source]) => source!))]
    }),
  )
  const sources = parts.flat()
  assert(sources.length > 100, 'the build does not name the sources of its parts')
  assert.deepEqual(
    sources.filter((source, index) => sources.indexOf(source) !== index),
    [],
  )
}

async function checkSourceMaps(): Promise<void> {
  const files = await filesOf(installed)
  const maps = files.filter((file) => file.endsWith('.js.map'))
  assert.equal(maps.length, files.filter((file) => /^dist\/.*\.js$/.test(file)).length)
  for (const file of maps) {
    const { sources, sourcesContent } = JSON.parse(await readFile(join(installed, file), 'utf8'))
    assert.equal(sourcesContent, undefined, file)
    for (const source of sources) {
      // An absolute path would be of the machine that built it.
      const target = relative(installed, join(installed, dirname(file), source))
      assert(/^(lib|cli)\//.test(target), `${file} points to ${source}`)
    }
  }
}

/** Compilers load each file that another names, so one such name breaks a project that checks what it installs. */
async function checkTypes(): Promise<void> {
  const { exports } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as { exports: object }
  const entries = Object.values(exports).filter((path) => path.endsWith('.js'))
  const { loaded, foreign } = await declarationsOf(entries)
  assert.deepEqual(foreign, [])
  const declared = (await filesOf(join(installed, 'dist'))).filter((file) => file.endsWith('.d.ts'))
  assert.deepEqual(
    declared.filter((file) => !loaded.has(join('dist', file))),
    [],
  )
  assert(!declared.includes('lib/context.d.ts'), 'the context is published')
}

/** With the types of all schemas, a page of three lines took a compiler 15 seconds. */
async function checkClientTypes(): Promise<void> {
  const { loaded } = await declarationsOf(['dist/lib/client/index.js'])
  const texts = await Promise.all([...loaded].map((file) => readFile(join(installed, file), 'utf8')))
  const bytes = texts.join('').length
  assert(bytes <= MAX_CLIENT_TYPES, `${bytes} bytes of declarations in ${[...loaded].join(', ')}`)
}

/** The declarations that a compiler loads for these entry points, and the names of other packages in them. */
async function declarationsOf(entries: string[]): Promise<{ loaded: Set<string>; foreign: string[] }> {
  const loaded = new Set(entries.map((path) => join(path.replace(/\.js$/, '.d.ts'))))
  const foreign: string[] = []
  for (const file of loaded) {
    const text = await readFile(join(installed, file), 'utf8')
    for (const [, specifier = ''] of text.matchAll(/(?:from |import |import\()['"]([^'"]+)['"]/g)) {
      if (specifier.startsWith('.')) loaded.add(join(dirname(file), specifier).replace(/(?<!\.d)\.[jt]s$/, '.d.ts'))
      else if (!isAllowed(file, specifier)) foreign.push(`${file}: ${specifier}`)
    }
  }
  return { loaded, foreign }
}

/** React is a peer of its hooks alone, and the Chat SDK of its adapter. */
function isAllowed(file: string, specifier: string): boolean {
  if (specifier.startsWith('node:')) return true
  const place = { react: 'dist/lib/client/react/', chat: 'dist/lib/chat-sdk/' }[specifier]
  return place !== undefined && file.startsWith(place)
}

/** Linters of packages, which npm fetches once: 60 packages that nothing else here needs. */
async function lint(linter: string, ...args: string[]): Promise<void> {
  await run('npx', ['--yes', '--prefer-offline', linter, await packed(), ...args], folder)
}

async function embed(): Promise<void> {
  await cp(join(here, 'embed.mjs'), join(project, 'embed.mjs'))
  const { stdout, stderr } = await run(process.execPath, ['embed.mjs'], project, 20)
  assert.equal(stderr, '')
  assert.equal(stdout.trimEnd().split('\n').length, 1, `printed by the library:\n${stdout}`)
  const answer = { status: 200, body: { is_setup: false } }
  assert.deepEqual(JSON.parse(stdout), { answers: [answer, answer], newListeners: [] })
}

/** The program of a host: what it posts is what it prints. */
async function runHost(file: string, cwd = project): Promise<void> {
  // `require` of ES modules is an experiment to Node 20.
  const { stdout } = await run(process.execPath, ['--no-warnings', file], cwd, 30)
  assert.equal(stdout, 'Does it run?\n', file)
}

async function requireFromCommonJs(): Promise<void> {
  const program = await readFile(join(here, 'host.mjs'), 'utf8')
  await writeFile(join(project, 'host.cjs'), program.replaceAll(/^import (.*) from (.*)$/gm, 'const $1 = require($2)'))
  await runHost('host.cjs')
}

async function runBundles(): Promise<void> {
  await cp(join(here, 'host.mjs'), join(project, 'host.mjs'))
  for (const format of ['esm', 'cjs'] as const)
    for (const outside of [{ packages: 'external' as const }, { external: OUTSIDE }]) {
      const outfile = join(
        project,
        `bundle-${'external' in outside ? 'whole' : 'own'}.${format === 'esm' ? 'mjs' : 'cjs'}`,
      )
      const banner = { js: format === 'esm' ? REQUIRE : '' }
      await build({
        ...{ entryPoints: [join(project, 'host.mjs')], outfile, format, banner, ...outside },
        ...{ bundle: true, platform: 'node', target: 'node20', logLevel: 'silent' },
      })
      await runHost(outfile)
    }
}

/** On SQLite, and on PostgreSQL where the environment names one: each runtime gets a schema of its own. */
async function runOn(runtime: string): Promise<void> {
  await cp(join(here, 'runtime.mjs'), join(project, 'runtime.mjs'))
  const args = [...RUNTIMES[runtime]!, 'runtime.mjs', `sqlite:./data/${runtime}.db`]
  for (const rest of [[], ...(process.env.TEST_DATABASE ? [[process.env.TEST_DATABASE, `on_${runtime}`]] : [])]) {
    const { stdout } = await run(runtime, rest.length > 0 ? [...args.slice(0, -1), ...rest] : args, project, 60)
    assert.equal(stdout, 'Does it run? 1\nDoes it run? 1\n')
  }
}

/** The script and the test of the page on testing, as they stand there. */
async function runJest(): Promise<void> {
  const page = await readFile(join(installed, 'docs/embedding/testing.md'), 'utf8')
  const [, script = ''] = /^```json\n(.*?)^```/ms.exec(page) ?? []
  const [, test = ''] = /^```js\n(test\(.*?)^```/ms.exec(page) ?? []
  const own = join(folder, 'jest')
  await mkdir(own)
  await writeFile(join(own, 'package.json'), JSON.stringify({ private: true, ...JSON.parse(script) }))
  await writeFile(join(own, 'ada.test.js'), test)
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--no-save', '--prefix', own]
  await run('npm', ['install', ...flags, 'jest@30', await packed()], own)
  const addon = join('node_modules', 'better-sqlite3')
  await rm(join(own, addon), { recursive: true, force: true })
  await cp(join(project, addon), join(own, addon), { recursive: true })
  const { stderr } = await run('npm', ['test'], own, 120)
  assert.match(stderr, /Tests: +1 passed, 1 total/)
}

async function runReadme(): Promise<void> {
  const [, program = ''] = /^```ts\n(.*?)^```/ms.exec(await readFile(join(installed, 'README.md'), 'utf8')) ?? []
  await writeFile(join(project, 'readme.mjs'), program.replace('port: 8080', 'port: 0'))
  for (const time of ['first', 'second']) {
    const child = spawn(process.execPath, ['readme.mjs'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const killer = setTimeout(() => child.kill('SIGKILL'), 30_000)
    let stderr = ''
    child.stderr.on('data', (text) => (stderr += text))
    const ended = once(child, 'close')
    await Promise.race([once(child.stdout, 'data'), ended])
    child.kill('SIGTERM')
    clearTimeout(killer)
    assert.deepEqual(await ended, [null, 'SIGTERM'], `the ${time} time:\n${stderr}`)
  }
}

async function buildWithoutPackages(): Promise<void> {
  const clone = join(folder, 'clone')
  await cp(join(root, '.ci', 'build.mjs'), join(clone, '.ci', 'build.mjs'))
  // Some package that runs the service brings TypeScript.
  await cp(join(root, 'node_modules', 'typescript', 'bin'), join(clone, 'node_modules', 'typescript', 'bin'), {
    recursive: true,
  })
  const { stderr } = await run(process.execPath, ['.ci/build.mjs'], clone, 30)
  assert.match(stderr, /there is no dist\/ yet.*\n.*npm ci && npm prune --omit=dev/)
}

async function embedWithoutOptional(): Promise<void> {
  const small = join(folder, 'small')
  await mkdir(small)
  await writeFile(join(small, 'package.json'), '{ "private": true, "type": "module" }\n')
  const flags = ['--omit=optional', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  await run('npm', ['install', ...flags, '--prefix', small, await packed()], small)
  const { packages } = JSON.parse(await readFile(join(small, 'node_modules/.package-lock.json'), 'utf8'))
  const count = Object.keys(packages).length
  assert(count <= MAX_PACKAGES, `${count} packages are installed`)

  await cp(join(here, 'without-optional.mjs'), join(small, 'without-optional.mjs'))
  // The host brings SQLite itself, as a dependency of its own, once it has seen what the service says without.
  const { stdout } = await run(process.execPath, ['without-optional.mjs', join(project, 'node_modules')], small, 30)
  const found = JSON.parse(stdout)
  assert.match(found.password, /^Passwords need the addon of @node-rs\/bcrypt/)
  assert.deepEqual({ ...found, password: '' }, { status: 200, username: 'grace', password: '' })
  const qr = run(
    process.execPath,
    [join(small, 'node_modules/.bin/chat-server'), 'serve', '--qr', '--port', '0'],
    small,
    30,
  )
  const { stderr } = await qr.then(
    () => assert.fail('it served'),
    (error) => error,
  )
  assert.match(stderr, /(listhen|better-sqlite3)/)
}

async function compileForNode(): Promise<void> {
  for (const name of ['@types/node', 'undici-types']) {
    await cp(join(root, 'node_modules', name), join(project, 'node_modules', name), { recursive: true })
  }
  await compile('embed.ts', { lib: ['es2023'], types: ['node'] })
}

async function compileForBrowser(): Promise<void> {
  await compile('browser.ts', { lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'], types: [] })
}

async function compile(file: string, platform: { lib: string[]; types: string[] }): Promise<void> {
  await cp(join(here, file), join(project, file))
  const compilerOptions = {
    ...platform,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'es2023',
    module: 'nodenext',
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], project)
}

async function serve(): Promise<void> {
  await whileServing(async (address) => {
    const answer = await fetch(`${address}/healthz`)
    assert.deepEqual([answer.status, await answer.json()], [200, { status: 'ok' }])
    const page = await (await fetch(address)).text()
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(page) ?? []
    const loaded = await fetch(address + script)
    assert.match(loaded.headers.get('content-type') ?? '', /^text\/javascript/, page)
  })
}

/** As in a clone that was installed without the packages that build the page. */
async function serveWithoutPage(): Promise<void> {
  await rm(join(installed, 'dist', 'web'), { recursive: true })
  const output = await whileServing(async (address) => {
    const answers = await Promise.all(['/', '/api/features'].map((path) => fetch(address + path)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 200],
    )
    assert.equal(((await answers[1]!.json()) as { web: boolean }).web, false)
  })
  assert.equal(output.split('There is no web chat').length, 2, output)
}

/** Runs a service, and stops it. @returns what it has printed */
async function whileServing(check: (address: string) => Promise<void>): Promise<string> {
  // What `npx chat-server` runs; npx itself would stand between us and the signal.
  const command = join(project, 'node_modules', '.bin', 'chat-server')
  const server = spawn(command, ['serve', '--port', '0'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(server, 'exit')
  const killer = setTimeout(() => server.kill('SIGKILL'), 30_000)
  try {
    let output = ''
    const address = await new Promise<string>((resolve, reject) => {
      const read = (text: Buffer) => {
        output += text
        const found = /https?:\/\/[^\s/]+:[1-9]\d*/.exec(output)
        if (found) resolve(found[0])
      }
      server.stdout.on('data', read)
      server.stderr.on('data', read)
      exited.then(() => reject(new Error(`ended without printing an address:\n${output}`)), reject)
    })
    await check(address)
    server.kill('SIGTERM')
    assert.deepEqual(await exited, [0, null], `[exit code, signal] after SIGTERM:\n${output}`)
    return output
  } finally {
    clearTimeout(killer)
    server.kill('SIGKILL')
  }
}

async function run(command: string, args: string[], cwd: string, timeout_seconds = 300) {
  return promisify(execFile)(command, args, { cwd, env, timeout: timeout_seconds * 1000, killSignal: 'SIGKILL' })
}

/** The files below a folder, with `/` between the names; what npm puts inside for others is not ours. */
async function filesOf(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(parent, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((file) => !file.startsWith('node_modules/'))
}

function describe(error: unknown): string {
  // The message of a failed command ends with what it wrote to stderr.
  const { message, stdout, killed } = error as Error & { stdout?: string; killed?: boolean }
  const lines = [killed && 'It did not end in time.', message, stdout].filter(Boolean).join('\n').split('\n')
  // A broken type of one dependency brings a hundred of others with it.
  return lines.map((line, index) => (index < 12 ? `    ${line}\n` : '')).join('')
}
