// A vendor's prototype as engine/hip writes it: enumerations are int, pointers to the vendor's structs void *. Neither
// changes how arguments are passed.
#pragma once
#include <type_traits>

namespace vmafhip::test {

template <class T>
struct AsPlain {
  using type = T;
};
template <class T>
requires std::is_enum_v<T>
struct AsPlain<T> {
  static_assert(sizeof(T) == sizeof(int));
  using type = int;
};
template <>
struct AsPlain<unsigned long long> {
  static_assert(sizeof(unsigned long long) == sizeof(unsigned long));
  using type = unsigned long;
};
template <class T>
requires std::is_class_v<T>
struct AsPlain<T *> {
  using type = void *;
};
template <class T>
requires std::is_class_v<T>
struct AsPlain<const T *> {
  using type = const void *;
};
template <class T>
requires std::is_pointer_v<T>
struct AsPlain<T *> {
  using type = typename AsPlain<T>::type *;
};
template <class T>
requires(std::is_same_v<T, unsigned long long> || std::is_enum_v<T>) struct AsPlain<T *> {
  using type = typename AsPlain<T>::type *;
};
template <class Returned, class... Arguments>
struct AsPlain<Returned (*)(Arguments...)> {
  using type = typename AsPlain<Returned>::type (*)(typename AsPlain<Arguments>::type...);
};

template <class A, class B>
constexpr bool kSamePrototype = std::is_same_v<typename AsPlain<A>::type, typename AsPlain<B>::type>;

}  // namespace vmafhip::test
