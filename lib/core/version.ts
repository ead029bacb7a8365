/** The version in `package.json`, as a constant: the library reads no file. */
export const VERSION = '0.3.0'

/** Set by the build, from git. */
declare const CHAT_COMMIT: string | undefined

/** {@link VERSION} with the commit that was built, such as `1.2.3+0a1b2c3d4e5f`; without it, where that is unknown. */
export const BUILD = typeof CHAT_COMMIT === 'string' && CHAT_COMMIT !== '' ? `${VERSION}+${CHAT_COMMIT}` : VERSION
