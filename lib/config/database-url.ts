/** Whether two URLs of PostgreSQL lead to one database, with the user or the password of another role at most. */
export function differsInCredentialsOnly(one: string, other: string): boolean {
  return isPostgres(one) && isPostgres(other) && withoutCredentials(one) === withoutCredentials(other)
}

const isPostgres = (url: string) => /^postgres(ql)?:\/\//.test(url)

/** Credentials stand before the host, or among the parameters, which have precedence. */
function withoutCredentials(url: string): string {
  const [address, query = ''] = url.split(/\?(.*)/s)
  const others = query.split('&').filter((parameter) => !/^(user|password)=/.test(parameter))
  return `${address!.replace(/^(\w+:\/\/)[^/]*@/, '$1')}?${others.join('&')}`
}
