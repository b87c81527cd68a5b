// Calls of the server that this page came from; the address of the page holds the token.

async function answered(response) {
  const data = await response.json();
  if (!response.ok) {
    const said = (data.errors ?? []).map(words);
    throw new Error(said.join("\n") || "the server did not take it");
  }
  return data;
}

export function words(problem) {
  const extra = [problem.allowed && `allowed: ${problem.allowed}`, problem.hint && `hint: ${problem.hint}`]
    .filter(Boolean);
  return `${problem.path}: ${problem.message}${extra.length ? ` (${extra.join("; ")})` : ""}`;
}

export async function state() {
  return answered(await fetch("api/state"));
}

export async function call(name, given = {}) {
  return answered(await fetch(`api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(given),
  }));
}
