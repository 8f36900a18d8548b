// What a server says of itself.

/** The sum of a metric over its labels. Throws when there is none of that name. */
export async function metric({ port }: { readonly port: number }, name: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  const values = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)))
  if (values.length === 0) throw new Error(`the server has no metric ${name}`)
  return values.reduce((sum, value) => sum + value, 0)
}
