import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A host's file, which is only in memory. Each comment with a name is a place that an editor can be asked about. */
const FILE = join(ROOT, 'test/tools/host.ts')
const HOST = `
import { createChatService, OPERATOR, openStorage, parseConfig, type Ports, type PostInput } from '../../lib/index.ts'
import { createChatClient, type MessageInput } from '../../lib/client/index.ts'

const config = parseConfig({ /*section*/ server: { /*key*/ } })
const ports: Ports = { /*port*/ }
const chat = createChatService(config, await openStorage(), ports)
const client = createChatClient({ base_url: 'http://127.0.0.1:8080' })
const posted = await chat.messages./*service*/reply(OPERATOR, 'id', { /*field*/ content: 'x' })
await client.messages./*client*/reply('id', { content: 'x' })
console.log(posted./*result*/message, config.server./*value*/port)
chat./*feature*/messages
type /*input*/Post = { [K in keyof PostInput]: PostInput[K] }
type /*client input*/Sent = { [K in keyof MessageInput]: MessageInput[K] }
`

/** What an editor shows of {@link HOST}. */
export function openEditor() {
  const options: ts.CompilerOptions = {
    ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, strict: true, skipLibCheck: true },
    ...{
      allowImportingTsExtensions: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'].map((name) => `lib.${name}.d.ts`),
  }
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [FILE],
    getScriptVersion: () => '0',
    getScriptSnapshot: (file) => {
      const text = file === FILE ? HOST : ts.sys.readFile(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (file) => file === FILE || ts.sys.fileExists(file),
    readFile: (file) => ts.sys.readFile(file),
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  })
  const placeOf = (name: string) => HOST.indexOf(`/*${name}*/`) + name.length + 4

  return {
    /** What appears while the pointer rests on what follows the place. */
    hover(name: string): string {
      const info = service.getQuickInfoAtPosition(FILE, placeOf(name))!
      const tags = (info.tags ?? []).map((tag) => `@${tag.name} ${ts.displayPartsToString(tag.text)}`)
      return [ts.displayPartsToString(info.displayParts), ts.displayPartsToString(info.documentation), ...tags].join(
        '\n',
      )
    },
    /** The names that are offered at the place. */
    completions(name: string): string[] {
      return service.getCompletionsAtPosition(FILE, placeOf(name), {})!.entries.map((entry) => entry.name)
    },
    /** What is shown beside one of them. */
    detail(name: string, entry: string): string {
      const details = service.getCompletionEntryDetails(FILE, placeOf(name), entry, {}, undefined, {}, undefined)!
      return ts.displayPartsToString(details.documentation)
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const editor = openEditor()
  for (const place of ['service', 'client', 'result', 'value', 'feature']) console.log(`${editor.hover(place)}\n`)
  for (const place of ['section', 'key', 'port', 'field'])
    console.log(`${place}: ${editor.completions(place).join(' ')}`)
}
