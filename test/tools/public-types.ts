import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const ENTRY_POINTS: Record<string, string> = {
  'chat-server': join(ROOT, 'lib/index.ts'),
  'chat-server/h3': join(ROOT, 'lib/http/index.ts'),
  'chat-server/client': join(ROOT, 'lib/client/index.ts'),
  'chat-server/client/admin': join(ROOT, 'lib/client/admin.ts'),
  'chat-server/client/store': join(ROOT, 'lib/client/store/index.ts'),
  'chat-server/client/parts': join(ROOT, 'lib/client/store/parts.ts'),
  'chat-server/client/ai': join(ROOT, 'lib/client/ai/index.ts'),
  'chat-server/react': join(ROOT, 'lib/client/react/index.ts'),
  'chat-server/receive': join(ROOT, 'lib/receive/index.ts'),
  'chat-server/chat-sdk': join(ROOT, 'lib/chat-sdk/index.ts'),
  'chat-server/web': join(ROOT, 'lib/web/index.ts'),
  'chat-server/testing': join(ROOT, 'lib/testing/index.ts'),
}

/** Longer types are broken into lines. */
const MAX_COLUMNS = 100

const FORMAT =
  ts.TypeFormatFlags.NoTruncation |
  ts.TypeFormatFlags.InTypeAlias |
  ts.TypeFormatFlags.UseSingleQuotesForStringLiteralType |
  ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope

/** The published types as text, a line for each member of each export, and of each type that they refer to. */
export function publicTypes(): string {
  const program = ts.createProgram(Object.values(ENTRY_POINTS), {
    ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, strict: true, skipLibCheck: true },
    ...{ noUncheckedIndexedAccess: true, allowImportingTsExtensions: true, noEmit: true, types: ['node'] },
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'].map((name) => `lib.${name}.d.ts`),
  })
  const checker = program.getTypeChecker()
  const printer = createPrinter(checker)
  const sections = Object.entries(ENTRY_POINTS).map(([name, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!
    return [`# ${name}`, ...printer.print(checker.getExportsOfModule(module).map(unaliased))].join('\n')
  })
  const referred = ['# Types they refer to', ...printer.printReferred()]
  return `${[...sections, referred.join('\n')].join('\n\n')}\n`

  function unaliased(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  }
}

function createPrinter(checker: ts.TypeChecker) {
  const printed = new Set<ts.Symbol>()
  /** Of each exported type its text, which stands in place of its name where the compiler has inferred the type. */
  const names = new Map<string, string>()
  const referred = new Set<ts.Symbol>()
  const seen = new Set<ts.Type>()

  function print(symbols: ts.Symbol[]): string[] {
    for (const symbol of symbols) {
      if (!(symbol.flags & ts.SymbolFlags.TypeAlias)) continue
      const text = rawTextOf(checker.getDeclaredTypeOfSymbol(symbol))
      if (text.length > MAX_COLUMNS) names.set(text, symbol.name)
    }
    return symbols.flatMap((symbol) => {
      if (printed.has(symbol)) return [`${symbol.name}: as above`]
      printed.add(symbol)
      const isType = symbol.flags & (ts.SymbolFlags.Type | ts.SymbolFlags.Class)
      const type = isType ? checker.getDeclaredTypeOfSymbol(symbol) : checker.getTypeOfSymbol(symbol)
      return linesOf(symbol.name, type)
    })
  }

  function linesOf(path: string, type: ts.Type): string[] {
    const members = type.isUnion() ? [] : type.getProperties()
    const isCallable = type.getCallSignatures().length > 0
    const isOwn =
      type.symbol === undefined || isOurs(type.symbol) || Boolean(type.aliasSymbol && isOurs(type.aliasSymbol))
    if (
      isCallable ||
      members.length === 0 ||
      !isOwn ||
      !(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))
    )
      return [`${path}: ${textOf(type)}`]
    return members.filter(isPublished).flatMap((member) => {
      const memberType = checker.getTypeOfSymbol(member)
      const name = `${path}.${member.name}${member.flags & ts.SymbolFlags.Optional ? '?' : ''}`
      const isGroup = memberType.getCallSignatures().length === 0 && isNamespace(memberType)
      return isGroup ? linesOf(name, memberType) : [`${name}: ${textOf(memberType)}`]
    })
  }

  /** An object of functions: `chat.messages`. */
  function isNamespace(type: ts.Type): boolean {
    const members = type.flags & ts.TypeFlags.Object ? type.getProperties() : []
    const areOurs = members.every((member) => isOurs(member))
    return (
      members.length > 0 &&
      areOurs &&
      members.every((each) => checker.getTypeOfSymbol(each).getCallSignatures().length > 0)
    )
  }

  function textOf(type: ts.Type): string {
    visit(type, true)
    const whole = rawTextOf(type)
    let text = whole
    // The longest first: others are parts of it.
    const longest = [...names].toSorted(([a], [b]) => b.length - a.length)
    for (const [definition, name] of longest) if (definition !== whole) text = text.replaceAll(definition, name)
    return inLines(text)
  }

  function rawTextOf(type: ts.Type): string {
    const text = checker.typeToString(type, undefined, FORMAT)
    return text.replaceAll(/(?<!typeof )import\("[^"]+"\)\./g, '').replaceAll(ROOT, '')
  }

  /** Collects the types of ours that a type refers to by name. */
  function visit(type: ts.Type, isTop = false): void {
    const name = type.aliasSymbol ?? (type.isClassOrInterface() ? type.symbol : undefined)
    if (name && isOurs(name) && !isTop) return void referred.add(name)
    if (seen.has(type) || (name && !isOurs(name) && !type.aliasTypeArguments)) return
    seen.add(type)
    for (const each of type.aliasTypeArguments ?? []) visit(each)
    if (type.isUnionOrIntersection()) for (const each of type.types) visit(each)
    if (!(type.flags & ts.TypeFlags.Object)) return
    for (const each of checker.getTypeArguments(type as ts.TypeReference) ?? []) visit(each)
    if (type.symbol && !isOurs(type.symbol)) return
    for (const member of type.getProperties()) visit(checker.getTypeOfSymbol(member))
    for (const signature of type.getCallSignatures()) {
      for (const parameter of signature.parameters) visit(checker.getTypeOfSymbol(parameter))
      visit(signature.getReturnType())
    }
  }

  function isPublished(member: ts.Symbol): boolean {
    // What every Error has.
    if (member.declarations?.every((each) => /\/lib\.[^/]*\.d\.ts$/.test(each.getSourceFile().fileName))) return false
    return !member.getJsDocTags(checker).some(({ name }) => name === 'internal')
  }

  function printReferred(): string[] {
    const lines: string[] = []
    // The set grows while it is read: a type that is referred to refers to others.
    for (const symbol of referred) if (!printed.has(symbol)) lines.push(...print([symbol]))
    return lines
  }

  return { print, printReferred }
}

function isOurs(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some((each) => each.getSourceFile().fileName.startsWith(join(ROOT, 'lib/')))
}

/** A long type with a line for each member of its objects, so that a change of one is a change of one line. */
function inLines(text: string): string {
  if (text.length <= MAX_COLUMNS) return text
  let depth = 0
  const indented = () => `\n${'  '.repeat(depth)}`
  return text.replaceAll(/\{ |; \}| \}|; /g, (mark) => {
    if (mark === '{ ') depth++
    else if (mark !== '; ') depth--
    return mark === '{ ' ? `{${indented()}` : mark === '; ' ? indented() : `${indented()}}`
  })
}
