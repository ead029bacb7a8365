/** How browsers name themselves, the special ones before those they claim to be as well. */
const BROWSERS = [
  [/Edg(?:A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const

const SYSTEMS = [
  [/Android/, 'Android'],
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
] as const

/** What a person calls the device of a session: `Firefox, Linux`; of a program, its own name; `undefined` if it gives none. */
export function deviceOf(user_agent: string | undefined): string | undefined {
  const find = (names: readonly (readonly [RegExp, string])[]) =>
    names.find(([pattern]) => pattern.test(user_agent ?? ''))?.[1]
  const browser = find(BROWSERS)
  if (!browser) return user_agent?.split(/[\s/]/)[0] || undefined
  const system = find(SYSTEMS)
  return system ? `${browser}, ${system}` : browser
}
